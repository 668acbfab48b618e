"""The REST API of the template: who may call, in which words it says no, and what is written out for the emulator."""

from __future__ import annotations

import json
from typing import Any

import pytest

from local import gateway, template

API = template.resources(template.read(), "AWS::Serverless::Api")["Api"]
PATHS: dict[str, dict[str, Any]] = API["DefinitionBody"]["paths"]
RESPONSES: dict[str, dict[str, Any]] = API["DefinitionBody"][gateway.RESPONSES]


def test_only_what_tells_nothing_is_open() -> None:
    unguarded = {(path, verb) for path, verbs in PATHS.items() for verb, one in verbs.items() if not one["security"]}
    assert unguarded == {
        ("/health", "get"),
        ("/docs", "get"),
        ("/openapi.json", "get"),
        ("/console", "get"),  # the page asks for a key itself
        ("/console/{proxy+}", "get"),
        ("/v1/{proxy+}", "options"),  # a browser asks for leave without a key
    }


def test_everything_else_asks_for_a_key_of_a_plan_or_for_a_signature() -> None:
    security = PATHS["/v1/{proxy+}"][gateway.ANY]["security"]
    condition, by_key, by_signature = security["Fn::If"]
    assert (condition, by_signature) == ("HasApiKey", [{"signature": []}])
    emulator, here, in_aws = by_key["Fn::If"]
    assert (emulator, here, in_aws) == ("IsEmulator", [{"caller": []}], [{"caller": [], "plan_key": []}])
    schemes = API["DefinitionBody"]["components"]["securitySchemes"]
    assert schemes["caller"]["x-amazon-apigateway-authorizer"]["authorizerResultTtlInSeconds"] == 0
    assert API["ApiKeySourceType"] == "AUTHORIZER"
    plan = template.resources(template.read(), "AWS::ApiGateway::UsagePlan")["ApiUsagePlan"]
    assert plan["Throttle"] == {"RateLimit": {"Ref": "ApiRateLimit"}, "BurstLimit": {"Ref": "ApiBurstLimit"}}


def test_forms_and_speech_pass_as_they_are() -> None:
    assert API["BinaryMediaTypes"] == ["*/*"]


@pytest.mark.parametrize("kind", sorted(RESPONSES))
def test_the_gateway_s_refusals_have_the_shape_of_the_api_s_own(kind: str) -> None:
    body = RESPONSES[kind]["responseTemplates"]["application/json"]
    error = json.loads(body.replace("$context.error.messageString", '"said by the gateway"'))["error"]
    assert list(error) == ["message", "type", "param", "code"]
    assert "Fn::If" in RESPONSES[kind]["responseParameters"]  # or a page could not read it


def test_any_is_written_out_for_the_emulator_and_nothing_else_changes() -> None:
    written = gateway.spelled_out(template.read())
    paths = template.resources(written, "AWS::Serverless::Api")["Api"]["DefinitionBody"]["paths"]
    proxy, original = paths.pop("/v1/{proxy+}"), PATHS["/v1/{proxy+}"]
    assert set(proxy) == {*gateway.VERBS, "options"}
    assert all(proxy[verb] == original[gateway.ANY] for verb in gateway.VERBS)
    assert proxy["options"] == original["options"]
    assert paths == {path: verbs for path, verbs in PATHS.items() if path != "/v1/{proxy+}"}
