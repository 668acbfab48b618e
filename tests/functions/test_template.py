"""What the emulator does not enforce and AWS does: sizes, timeouts, encryption, and roles without wildcards."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest

from local import template

ROOT = Path(__file__).resolve().parents[2]
MOST_UNZIPPED = 250 * 1000 * 1000  # bytes, function and layers together; Lambda says 250 MB
MOST_VARIABLES = 4096  # bytes of names and values
TEMPLATE = template.read()
FUNCTIONS = template.resources(TEMPLATE, "AWS::Serverless::Function")
LAYERS = template.resources(TEMPLATE, "AWS::Serverless::LayerVersion")


def of_kind(kind: str) -> dict[str, dict[str, Any]]:
    """Resources of a kind, by logical id."""
    return template.resources(TEMPLATE, kind)


def statements(kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every statement of every policy in resources of a kind."""
    for name, properties in of_kind(kind).items():
        policies = properties.get("Policies") or [properties]
        for policy in policies:
            yield from ((name, s) for s in policy["PolicyDocument"]["Statement"] if "Fn::If" not in s)


def listed(value: Any) -> list[Any]:
    """A value that YAML may give alone or as a list."""
    return value if isinstance(value, list) else [value]


def layer_bytes(name: str) -> int:
    """Unzipped size of a layer: our code from the tree, wheels as they are installed here (x86-64, the larger ones)."""
    folder = ROOT / LAYERS[name]["ContentUri"]
    if name == "ModelsLayer":
        return tree_bytes(ROOT / "models" / "bundles")
    if (folder / "python").is_dir():
        return tree_bytes(folder / "python")
    return sum(wheel_bytes(*pin.split("==")) for pin in pins(folder / "requirements.txt"))


def pins(path: Path) -> list[str]:
    """name==version lines."""
    return [line for line in path.read_text().splitlines() if line and not line.startswith("#")]


def wheel_bytes(name: str, version: str) -> int:
    """Installed size of a distribution, compiled files left out; it must be the very version that ships."""
    found = distribution(name)
    assert found.version == version, f"{name} {found.version} is installed here, the layer pins {version}"
    paths = [Path(str(file.locate())) for file in found.files or [] if "__pycache__" not in file.parts]
    return sum(path.stat().st_size for path in paths if path.is_file())


def tree_bytes(folder: Path) -> int:
    """Size of all files below a folder that ship."""
    return sum(p.stat().st_size for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_a_function_and_its_layers_fit_lambda(name: str) -> None:
    parts = {layer["Ref"]: layer_bytes(layer["Ref"]) for layer in FUNCTIONS[name]["Layers"]}
    parts["code"] = tree_bytes(ROOT / FUNCTIONS[name]["CodeUri"])
    assert sum(parts.values()) < MOST_UNZIPPED, f"{name}: {parts}"
    assert len(FUNCTIONS[name]["Layers"]) <= 5


def test_one_function_could_not_hold_both_decoder_and_recogniser() -> None:
    folders = [ROOT / LAYERS[name]["ContentUri"] for name in ("RuntimeLayer", "DecoderLayer")]
    wheels = {pin for folder in folders for pin in pins(folder / "requirements.txt")}
    together = sum(wheel_bytes(*pin.split("==")) for pin in wheels)
    assert together > MOST_UNZIPPED - 30_000_000, "there is room for the bundles now: drop the convert function"


def test_the_variables_of_a_function_fit_lambda() -> None:
    shared = TEMPLATE["Globals"]["Function"]["Environment"]["Variables"]
    for properties in FUNCTIONS.values():
        variables = shared | properties.get("Environment", {}).get("Variables", {})
        assert sum(len(name) + most_bytes(value) for name, value in variables.items()) < MOST_VARIABLES


def most_bytes(value: Any) -> int:
    """More than a variable's value can have."""
    kind = TEMPLATE["Parameters"].get(value.get("Ref"), {}).get("Type") if isinstance(value, dict) else None
    return 10 if kind == "Number" else 200


def test_a_message_stays_hidden_for_six_times_the_longest_invocation() -> None:
    longest = TEMPLATE["Globals"]["Function"]["Timeout"]
    sources = {
        source["Properties"]["Queue"]["Fn::GetAtt"][0]
        for properties in FUNCTIONS.values()
        for source in properties.get("Events", {}).values()
        if source["Type"] == "SQS"
    }
    for queue in sources:
        assert of_kind("AWS::SQS::Queue")[queue]["VisibilityTimeout"] >= 6 * longest
        assert "deadLetterTargetArn" in of_kind("AWS::SQS::Queue")[queue]["RedrivePolicy"]


def test_partial_batch_failures_are_reported_by_every_source() -> None:
    for properties in FUNCTIONS.values():
        for source in properties.get("Events", {}).values():
            if source["Type"] in ("SQS", "Kinesis"):
                assert source["Properties"]["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


def test_buckets_are_encrypted_private_and_tidied() -> None:
    for bucket in of_kind("AWS::S3::Bucket").values():
        assert bucket["BucketEncryption"]
        assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
        assert all(rule["Status"] == "Enabled" for rule in bucket["LifecycleConfiguration"]["Rules"])


def test_nothing_is_served_without_tls() -> None:
    refusing = {
        resource["Fn::GetAtt"][0]
        for kind in ("AWS::S3::BucketPolicy", "AWS::SQS::QueuePolicy")
        for _, statement in statements(kind)
        if (statement["Effect"], statement.get("Condition")) == ("Deny", {"Bool": {"aws:SecureTransport": "false"}})
        for resource in listed(statement["Resource"])
        if "Fn::GetAtt" in resource
    }
    assert refusing == set(of_kind("AWS::S3::Bucket")) | set(of_kind("AWS::SQS::Queue"))


def test_roles_name_their_actions_and_resources() -> None:
    for role, statement in statements("AWS::IAM::Role"):
        actions = listed(statement["Action"])
        assert not [action for action in actions if "*" in action], f"{role} allows {actions}"
        if statement["Resource"] == "*":
            without = all(action.startswith("xray:") or action == "ecr:GetAuthorizationToken" for action in actions)
            assert without, f"{role} allows {actions} on everything"


def test_every_log_is_of_the_template_and_ends() -> None:
    for properties in FUNCTIONS.values():
        group = properties["LoggingConfig"]["LogGroup"]["Ref"]
        assert of_kind("AWS::Logs::LogGroup")[group]["RetentionInDays"]


def test_dead_letters_errors_and_old_messages_raise_alarms() -> None:
    watched = {(alarm["Namespace"], alarm["MetricName"]) for alarm in of_kind("AWS::CloudWatch::Alarm").values()}
    assert watched == {
        ("AWS/SQS", "ApproximateNumberOfMessagesVisible"),
        ("AWS/SQS", "ApproximateAgeOfOldestMessage"),
        ("AWS/Lambda", "Errors"),
        ("AWS/Lambda", "IteratorAge"),
        ("AWS/ApiGateway", "5XXError"),
        ("Undertone", "Calls"),
    }


def test_a_queue_that_is_alarmed_about_has_dead_letters() -> None:
    queues = of_kind("AWS::SQS::Queue")
    assert queues["CallsQueue"]["RedrivePolicy"]["deadLetterTargetArn"] == {"Fn::GetAtt": ["CallFailuresQueue", "Arn"]}


def test_a_worker_that_is_told_to_stop_has_time_to_hand_over() -> None:
    [container] = of_kind("AWS::ECS::TaskDefinition")["WorkerTask"]["ContainerDefinitions"]
    assert container["StopTimeout"] >= 60
    assert container["ReadonlyRootFilesystem"] is True
    assert container["User"] != "root"
    beat = next(v["Value"] for v in container["Environment"] if v["Name"] == "HEARTBEAT_FILE")
    assert container["HealthCheck"]["Command"][-1] == beat
    assert beat.startswith(container["MountPoints"][0]["ContainerPath"])


def test_workers_scale_by_the_metric_that_they_report() -> None:
    [policy] = of_kind("AWS::ApplicationAutoScaling::ScalingPolicy").values()
    metric = policy["TargetTrackingScalingPolicyConfiguration"]["CustomizedMetricSpecification"]
    [container] = of_kind("AWS::ECS::TaskDefinition")["WorkerTask"]["ContainerDefinitions"]
    given = {variable["Name"]: variable["Value"] for variable in container["Environment"]}
    assert metric["Namespace"] == given["POWERTOOLS_METRICS_NAMESPACE"]
    assert metric["Dimensions"] == [{"Name": "service", "Value": given["POWERTOOLS_SERVICE_NAME"]}]
    # that the worker reports it under this name is tests/stack/calls/test_live_worker.py
    assert metric["MetricName"] == "Calls"


def test_live_calls_cost_nothing_where_there_are_none() -> None:
    """Without an image there is no worker, and nothing of what it would need."""
    assert TEMPLATE["Parameters"]["WorkerImage"]["Default"] == ""
    for name, resource in TEMPLATE["Resources"].items():
        if resource["Type"].startswith(template.NOT_HERE) or name.startswith(("Call", "Worker", "Watcher")):
            assert resource["Condition"] in ("HasLiveCalls", "HasOwnVpc", "HasWorkersAlways"), name


def test_the_local_stack_leaves_out_what_needs_docker_and_nothing_else() -> None:
    left = template.left_out(TEMPLATE)
    assert {"WorkerService", "WorkerTask", "WorkerVpc", "WorkerScaling"} <= set(left)
    assert all(name.startswith("Worker") for name in left)
    kept = template.without_containers(TEMPLATE)
    assert not [name for name in left if f"'{name}'" in str(kept)]  # nothing that stays refers to what is left out


def test_recordings_of_calls_are_off_and_land_where_nothing_transcribes_them() -> None:
    assert TEMPLATE["Parameters"]["CallRecording"]["Default"] == "none"
    heard = of_kind("AWS::Events::Rule")["RecordingsRule"]["EventPattern"]["detail"]["bucket"]["name"]
    [container] = of_kind("AWS::ECS::TaskDefinition")["WorkerTask"]["ContainerDefinitions"]
    given = {variable["Name"]: variable["Value"] for variable in container["Environment"]}
    assert heard == [{"Ref": "InputBucket"}]
    assert given["OUTPUT_BUCKET"] == {"Ref": "OutputBucket"}
    assert "InputBucket" not in str(container) + str(of_kind("AWS::IAM::Role")["WorkerRole"])
