"""What the emulator leaves out when it imports a REST API from the template: the method ANY, and errors in our words.

The template is written for API Gateway; here it is spelled out for an importer that knows less, and the rest is set by
the control plane once the stack is there, as an operator could.
"""

from __future__ import annotations

import copy
from typing import Any

from local.template import Template, resources

ANY = "x-amazon-apigateway-any-method"
VERBS = ("get", "post", "put", "patch", "delete", "head")
RESPONSES = "x-amazon-apigateway-gateway-responses"
ORIGIN = "gatewayresponse.header.Access-Control-Allow-Origin"


def spelled_out(template: Template) -> Template:
    """The template with each ANY of a REST API as all the methods that it stands for."""
    written = copy.deepcopy(template)
    for api in resources(written, "AWS::Serverless::Api").values():
        for path in api["DefinitionBody"]["paths"].values():
            if operation := path.pop(ANY, None):
                path |= {verb: operation for verb in VERBS if verb not in path}
    return written


def set_responses(client: Any, template: Template, parameters: dict[str, str]) -> None:
    """Give the deployed API its gateway responses, and deploy it again so that they count.

    client: boto3 client of the emulator's API Gateway. parameters: of the template, where they were set.
    """
    origin = parameters.get("CorsOrigin", "none")
    by_key = parameters.get("ApiAuth", "ApiKey") == "ApiKey"
    for api in resources(template, "AWS::Serverless::Api").values():
        [deployed] = [one for one in client.get_rest_apis()["items"] if one["name"].endswith("-api")]
        for kind, answer in api["DefinitionBody"][RESPONSES].items():
            status = answer.get("statusCode")
            if isinstance(status, dict):
                status = status["Fn::If"][1 if by_key else 2]
            client.put_gateway_response(
                restApiId=deployed["id"],
                responseType=kind,
                **({"statusCode": str(status)} if status else {}),
                responseTemplates=answer["responseTemplates"],
                responseParameters={} if origin == "none" else {ORIGIN: f"'{origin}'"},
            )
        client.create_deployment(restApiId=deployed["id"], stageName=api["StageName"])
