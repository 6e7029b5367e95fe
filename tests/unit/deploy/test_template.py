"""What is made on AWS: as the kept files say, private by default, and with no right that is not needed."""

import json
import re
import subprocess
import sys
from functools import reduce
from pathlib import Path

import pytest
from cfnlint.helpers import REGIONS as LINT_REGIONS
from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER

from backend.administration import aws_costs as costs
from backend.stores.dynamodb.session_records import TTL_ATTRIBUTE
from backend.stores.dynamodb.store import table_definition
from backend.uploads.uploads import EXPIRES
from backend.web import headers, openapi
from deploy import package, tasks, template
from deploy.deployment import REGIONS
from tests import aws, node
from tests.cloudfront import Cloudfront

SERVICE = aws.template("service", has_panel=True)
RESOURCES = SERVICE["Resources"]
FUNCTIONS = ("Api", "Score", "Work", "Panel")
DISTRIBUTION = RESOURCES["Distribution"]["Properties"]["DistributionConfig"]
CACHING_OPTIMIZED = "658327ea-f89d-4fab-a63d-7e88639e58f6"
CACHING_DISABLED = "4135ea2d-6df8-44a3-9df3-4b5a84be39ad"


REGIONS_OF = {"data": sorted(REGIONS), "service": sorted(REGIONS), "budget": ["us-east-1"]}


@pytest.mark.slow("cfn-lint checks every template for every region")
@pytest.mark.parametrize("name", template.NAMES)
def test_cloudformation_has_nothing_to_object_in_any_region(name):
    lint = Path(sys.executable).with_name("cfn-lint")
    command = [lint, "--regions", *REGIONS_OF[name], "--", template.HERE / f"{name}.yaml"]

    done = subprocess.run(command, capture_output=True, text=True)

    assert (done.returncode, done.stdout) == (0, "")


def test_a_deployment_is_possible_where_cloudformation_has_all_of_its_resources():
    types = {
        part["Type"]
        for name in ("data", "service")
        for part in aws.template(name, True)["Resources"].values()
    }
    published = [region for region in LINT_REGIONS if not re.search("iso|eusc", region)]

    complete = {
        region for region in published if types <= set(PROVIDER_SCHEMA_MANAGER.get_resource_types(region))
    }

    # The developer guide of Lambda says that Spain has no function URLs.
    assert complete - {"eu-south-2"} == REGIONS
    assert "AWS::Budgets::Budget" in PROVIDER_SCHEMA_MANAGER.get_resource_types("us-east-1")


def test_what_is_named_for_a_whole_account_is_named_by_region():
    """CloudFront, IAM and budgets have one space of names for all regions, S3 one for all accounts."""
    longest = {"${AWS::StackName}": "x" * 40, "${AWS::Region}": max(REGIONS, key=len)}
    found = []
    for resources in (RESOURCES, aws.template("data")["Resources"], aws.template("budget")["Resources"]):
        for part in resources.values():
            if part["Type"].startswith("AWS::CloudFront::"):
                found += explicit_names(part["Properties"])
            else:
                assert not {"RoleName", "ManagedPolicyName", "BucketName"} & set(part["Properties"])
                assert "BudgetName" not in part["Properties"].get("Budget", {})

    assert len(found) == 7
    for text in found:
        assert "${AWS::StackName}-${AWS::Region}-" in text["Fn::Sub"]
        filled = reduce(lambda name, one: name.replace(*one), longest.items(), text["Fn::Sub"])
        assert len(filled) <= 64  # of an origin access control and of a function


def explicit_names(properties):
    """Return the names of a resource of CloudFront itself, not of its headers or cookies."""
    of_kind = (
        value for key, value in properties.items() if key.endswith("Config") and isinstance(value, dict)
    )
    return [part["Name"] for part in (properties, *of_kind) if "Name" in part]


def header_policy(name):
    return RESOURCES[name]["Properties"]["ResponseHeadersPolicyConfig"]


def test_cloudfront_sends_the_headers_that_the_server_sends():
    policy = header_policy("PageHeaders")

    security = policy["SecurityHeadersConfig"]
    sent = {item["Header"]: item["Value"] for item in policy["CustomHeadersConfig"]["Items"]}
    sent["Content-Security-Policy"] = security["ContentSecurityPolicy"]["ContentSecurityPolicy"]
    sent["Referrer-Policy"] = security["ReferrerPolicy"]["ReferrerPolicy"]
    assert security["ContentTypeOptions"] == {"Override": True}
    assert {**sent, "X-Content-Type-Options": "nosniff"} == headers.PAGE
    assert security["StrictTransportSecurity"]["AccessControlMaxAgeSec"] >= 365 * 24 * 3600
    removed = {item["Header"] for item in policy["RemoveHeadersConfig"]["Items"]}
    assert {"ETag", "Last-Modified"} <= removed


class FailingOnce(Cloudfront):
    """A distribution whose bucket answers the first request with an error of S3."""

    status, asked = 503, 0

    def _file(self, path):
        self.asked += 1
        if self.asked == 1:
            return self.status, {"Content-Type": "application/xml"}, b"<Error><Code>SlowDown</Code></Error>"
        return 200, {"Content-Type": "image/png"}, b"png"


@pytest.mark.parametrize("status", [403, 404, 500, 502, 503, 504])
def test_an_error_is_not_cached_so_that_the_pages_next_try_reaches_the_bucket(monkeypatch, status):
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    distribution = FailingOnce("no-bucket", {})
    distribution.status = status

    replies = [distribution.reply("GET", "/i/faces/a.png", {}, b"")[0] for _ in range(2)]

    assert replies == [status, 200]


def test_cloudfront_lets_a_frame_without_an_origin_load_modules_and_nothing_else():
    modules = [b for b in DISTRIBUTION["CacheBehaviors"] if b["PathPattern"] == "/assets/*.js"]
    cors = header_policy("ModuleHeaders")["CorsConfig"]

    assert [b["ResponseHeadersPolicyId"] for b in modules] == [{"Ref": "ModuleHeaders"}]
    assert cors["AccessControlAllowOrigins"]["Items"] == [headers.MODULE["Access-Control-Allow-Origin"]]
    assert not cors["AccessControlAllowCredentials"]
    page, module = header_policy("PageHeaders"), header_policy("ModuleHeaders")
    assert {**module, "Name": page["Name"]} == {**page, "CorsConfig": cors}


def test_functions_have_the_memory_and_the_time_of_the_settings():
    for stage in package.STAGES:
        function, settings = RESOURCES[f"{stage.title()}Function"]["Properties"], package.settings(stage)
        (origin,) = [origin for origin in DISTRIBUTION["Origins"] if origin["Id"] == stage]
        assert function["MemorySize"] == settings["memory_size"]
        assert function["Timeout"] == settings["timeout_seconds"]
        read_timeout = origin["CustomOriginConfig"]["OriginReadTimeout"]
        assert int(function["Environment"]["Variables"]["OPENHYPE_REQUEST_SECONDS"]) < read_timeout - 1
        assert function["Handler"] == settings["lambda_handler"]
        assert read_timeout == min(settings["timeout_seconds"], 60 if stage == "score" else 15)


def test_the_table_is_the_one_that_the_store_makes():
    made = {
        **table_definition(""),
        "TimeToLiveSpecification": {"AttributeName": TTL_ATTRIBUTE, "Enabled": True},
    }
    del made["TableName"]
    table = aws.template("data")["Resources"]["Table"]["Properties"]

    assert {name: table[name] for name in made} == made
    assert table["DeletionProtectionEnabled"]


def test_every_behaviour_asks_for_tls_and_has_headers():
    behaviours = [DISTRIBUTION["DefaultCacheBehavior"], *DISTRIBUTION["CacheBehaviors"]]

    assert {b["ViewerProtocolPolicy"] for b in behaviours} == {"redirect-to-https", "https-only"}
    assert all("ResponseHeadersPolicyId" in b for b in behaviours)


def is_compressing(policy):
    """Return whether a cache policy lets CloudFront compress.

    Source: "Serve compressed files", CloudFront's developer guide: its TTLs are over zero, and it enables
    gzip. "Use managed cache policies": so does CachingOptimized, and CachingDisabled does not.
    """
    if isinstance(policy, str):
        return {CACHING_OPTIMIZED: True, CACHING_DISABLED: False}[policy]
    own = RESOURCES[policy["Ref"]]["Properties"]["CachePolicyConfig"]
    encodings = own["ParametersInCacheKeyAndForwardedToOrigin"]
    has_both = encodings["EnableAcceptEncodingGzip"] and encodings["EnableAcceptEncodingBrotli"]
    return has_both and own["MinTTL"] > 0


def test_cloudfront_compresses_where_its_cache_policy_allows_that_and_functions_elsewhere():
    """A function sees what a browser accepts, by the managed policy AllViewerExceptHostHeader."""
    behaviours = [DISTRIBUTION["DefaultCacheBehavior"], *DISTRIBUTION["CacheBehaviors"]]

    for behaviour in behaviours:
        if is_compressing(behaviour["CachePolicyId"]):
            assert behaviour["Compress"]
        else:
            assert "Compress" not in behaviour
            assert behaviour["OriginRequestPolicyId"] == "b689b0a8-53d0-40ab-baf2-68738e2966ac"
            assert behaviour["TargetOriginId"] != "files"


def statements():
    for name, resource in RESOURCES.items():
        properties = resource["Properties"]
        documents = [properties.get("PolicyDocument"), properties.get("AssumeRolePolicyDocument")]
        documents += [policy["PolicyDocument"] for policy in properties.get("Policies", [])]
        for document in filter(None, documents):
            for statement in document["Statement"]:
                yield name, statement


def test_no_role_may_do_more_than_it_is_told():
    for name, statement in statements():
        if statement["Effect"] == "Deny":
            continue
        actions = statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]
        assert not any("*" in action for action in actions), name
        assert statement.get("Resource") != "*", name
        assert statement.get("Principal") != "*", name


def allowed(role):
    (policy,) = RESOURCES[role]["Properties"]["Policies"]
    for statement in policy["PolicyDocument"]["Statement"]:
        for action in statement["Action"]:
            yield action, json.dumps(statement["Resource"])


def test_members_routes_may_write_uploads_and_invoke_the_worker_but_publish_no_picture():
    given = [*allowed("ScoreRole")]

    bucket = "arn:${AWS::Partition}:s3:::${Bucket}"
    for action, folders in (("s3:PutObject", {"uploads"}), ("s3:DeleteObject", {"downloads", "uploads"})):
        places = {place for each, place in given if each == action}
        assert places == {json.dumps({"Fn::Sub": f"{bucket}/{folder}/*"}) for folder in folders}
    invoked = [place for action, place in given if action == "lambda:InvokeFunction"]
    assert len(invoked) == 1
    assert "${AWS::StackName}-work" in invoked[0]


def test_the_worker_publishes_pictures_and_nothing_else_that_is_served():
    places = {place for action, place in allowed("WorkRole") if action == "s3:PutObject"}

    folders = ("public/i", "downloads")
    bucket = "arn:${AWS::Partition}:s3:::${Bucket}"
    assert places == {json.dumps({"Fn::Sub": f"{bucket}/{folder}/*"}) for folder in folders}


def test_members_routes_read_the_files_that_the_worker_leaves_for_them():
    for role, actions in (
        ("ScoreRole", {"GetObject", "DeleteObject"}),
        ("WorkRole", {"PutObject", "DeleteObject"}),
    ):
        found = {action for action, place in allowed(role) if "downloads/*" in place}
        assert found == {f"s3:{action}" for action in actions}
    for function in ("ScoreFunction", "WorkFunction"):
        variables = RESOURCES[function]["Properties"]["Environment"]["Variables"]
        assert variables["OPENHYPE_DOWNLOADS"] == {"Fn::Sub": "s3://${Bucket}/downloads"}


def test_the_worker_removes_copies_at_the_edges_of_this_distribution_alone():
    given = {place for action, place in allowed("WorkRole") if action.startswith("cloudfront:")}
    variables = RESOURCES["WorkFunction"]["Properties"]["Environment"]["Variables"]

    (place,) = given
    assert "distribution/${Distribution}" in place
    assert variables["OPENHYPE_DISTRIBUTION"] == {"Ref": "Distribution"}


def test_the_worker_is_invoked_by_its_schedule_and_has_the_time_of_a_job():
    function = RESOURCES["WorkFunction"]["Properties"]
    (rule,) = [part for name, part in RESOURCES.items() if name == "WorkSchedule"]
    (target,) = rule["Properties"]["Targets"]
    permissions = [
        part["Properties"]["Principal"]
        for part in RESOURCES.values()
        if part["Type"] == "AWS::Lambda::Permission"
        and part["Properties"]["FunctionName"] == {"Ref": "WorkFunction"}
    ]

    assert (function["Handler"], function["Timeout"]) == ("deploy.work.handle", 900)
    assert function["Code"] == RESOURCES["ScoreFunction"]["Properties"]["Code"]
    assert json.loads(target["Input"]) == {"task": "work"}
    assert permissions == ["events.amazonaws.com"]


def test_every_route_of_the_api_leads_to_a_function_that_serves_it(monkeypatch):
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    distribution = Cloudfront("no-bucket", {"panel": []})
    of_members = ("/api/sign-", "/api/competitions", "/api/openapi.json")

    def origin_of(path):
        return distribution._behaviour(path)["TargetOriginId"]

    found, expected = {}, {}
    for name, operation in openapi.operations().items():
        path = name.partition(" ")[2]
        found[name] = origin_of(re.sub(r"\{\w+\}", "x1", path))
        is_members = operation.role is not None or path.startswith(of_members)
        expected[name] = "score" if is_members else "panel" if "/panels/" in path else "api"
    expected["GET /api/studies/{study}/status"] = "api"
    expected["GET /api/studies/{study}/sessions"] = "api"  # which sends the reader on
    assert found == expected
    assert origin_of("/api/studies/x1/sessions/all") == "score"


def test_pages_of_members_reach_their_function_with_cookies_and_headers(monkeypatch):
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    distribution = Cloudfront("no-bucket", {})

    for path in ("/console", "/console/studies/x", "/competitions/x", "/competitions/x/badge.svg"):
        behaviour = distribution._behaviour(path)
        assert behaviour["TargetOriginId"] == "score"
        assert behaviour["OriginRequestPolicyId"] == "b689b0a8-53d0-40ab-baf2-68738e2966ac"


def test_pages_of_the_site_alone_may_send_parts_and_fetch_files_with_what_the_urls_need():
    bucket = aws.template("data", HasOrigins=True)["Resources"]["Bucket"]["Properties"]
    (rule,) = bucket["CorsConfiguration"]["CorsRules"]

    assert "CorsConfiguration" not in aws.template("data")["Resources"]["Bucket"]["Properties"]
    assert rule["AllowedOrigins"] == {"Fn::Split": [",", {"Ref": "Origins"}]}
    assert rule["AllowedMethods"] == ["GET", "PUT"]
    sent = ["content-type", "prefer", "x-amz-checksum-crc32", "x-openhype-member"]
    assert rule["AllowedHeaders"] == sent


def test_what_is_left_of_uploads_is_deleted_after_those_in_use_expired():
    rules = aws.template("data")["Resources"]["Bucket"]["Properties"]["LifecycleConfiguration"]["Rules"]

    days = {rule["Prefix"]: rule["ExpirationInDays"] for rule in rules if "ExpirationInDays" in rule}
    assert days.keys() == {"uploads/", "downloads/"}
    assert (days["uploads/"] > EXPIRES.days, days["downloads/"]) == (True, 1)
    assert rules[-1]["AbortIncompleteMultipartUpload"]["DaysAfterInitiation"] == EXPIRES.days


def test_only_cloudfront_may_call_the_functions_of_evaluators_and_scores():
    for stage in ("Api", "Score"):
        assert RESOURCES[f"{stage}Url"]["Properties"]["AuthType"] == "AWS_IAM"
        for permission in (f"{stage}Invoke", f"{stage}Ask"):
            given = RESOURCES[permission]["Properties"]
            assert given["Principal"] == "cloudfront.amazonaws.com"
            assert "distribution/${Distribution}" in given["SourceArn"]["Fn::Sub"]
        (origin,) = [origin for origin in DISTRIBUTION["Origins"] if origin["Id"] == stage.lower()]
        assert origin["OriginAccessControlId"] == {"Ref": "FunctionsAccess"}
    control = RESOURCES["FunctionsAccess"]["Properties"]["OriginAccessControlConfig"]
    assert (control["OriginAccessControlOriginType"], control["SigningBehavior"]) == ("lambda", "always")


def test_anybody_may_call_the_function_of_the_panel_but_only_through_its_address():
    invoke = RESOURCES["PanelInvoke"]["Properties"]

    assert (invoke["Principal"], invoke["InvokedViaFunctionUrl"]) == ("*", True)
    assert RESOURCES["PanelAsk"]["Properties"]["FunctionUrlAuthType"] == "NONE"


def test_no_secret_stands_in_a_template_or_in_a_functions_variables():
    variables = RESOURCES["ApiFunction"]["Properties"]["Environment"]["Variables"]

    assert variables["OPENHYPE_KEYS"] == {"Fn::Sub": "ssm:${Keys}"}
    assert set(variables) == {
        "OPENHYPE_KEYS", "OPENHYPE_KEYS_VERSION", "OPENHYPE_STORE", "OPENHYPE_REQUEST_SECONDS",
        "OPENHYPE_PANEL_FUNCTION", "INSTANTIATE_LAMBDA_HANDLER_ON_IMPORT",
    }  # fmt: skip


def test_only_the_function_of_the_panel_can_read_the_panels_token():
    readers = {
        name for name, statement in statements() if "${PanelSecret}" in json.dumps(statement.get("Resource"))
    }

    assert readers == {"PanelRole"}
    variables = RESOURCES["PanelFunction"]["Properties"]["Environment"]["Variables"]
    assert variables["OPENHYPE_PANEL"] == {"Fn::Sub": "ssm:${PanelSecret}"}


def test_schedules_run_tasks_that_exist_and_nobody_else_invokes_the_function():
    rules = {
        name: part["Properties"]
        for name, part in RESOURCES.items()
        if part["Type"] == "AWS::Events::Rule" and name != "WorkSchedule"
    }
    inputs = [json.loads(target["Input"]) for rule in rules.values() for target in rule["Targets"]]
    permissions = [
        part["Properties"]
        for part in RESOURCES.values()
        if part["Type"] == "AWS::Lambda::Permission"
        and part["Properties"]["FunctionName"] == {"Ref": "PanelFunction"}
    ]

    assert [one["task"] for one in inputs] == ["recruitment", "payments", "retention"]
    assert all(set(one) == {"task"} and one["task"] in tasks._TASKS for one in inputs)
    by_rule = [one for one in permissions if one["Principal"] == "events.amazonaws.com"]
    assert [one["SourceArn"] for one in by_rule] == [{"Fn::GetAtt": [name, "Arn"]} for name in rules]
    assert all(
        one.get("InvokedViaFunctionUrl") or one.get("FunctionUrlAuthType")
        for one in permissions
        if one not in by_rule
    )


def test_without_a_panel_there_is_nothing_of_it():
    plain = aws.template("service")

    assert not [name for name in plain["Resources"] if name.startswith(("Panel", "Recruit", "Pay", "Retent"))]
    assert "panel" not in json.dumps(plain["Resources"]["Distribution"])
    assert "Invoke" not in json.dumps(plain["Resources"]["ApiRole"])


def test_the_bucket_is_private_and_packages_lie_outside_of_what_is_served():
    bucket = aws.template("data")["Resources"]["Bucket"]["Properties"]
    (allowed,) = [s for n, s in statements() if n == "FilesPolicy" and s["Effect"] == "Allow"]

    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert allowed["Resource"]["Fn::Sub"].endswith("/public/*")
    assert allowed["Principal"] == {"Service": "cloudfront.amazonaws.com"}
    assert "AWS:SourceArn" in allowed["Condition"]["StringEquals"]


def alarms(**conditions):
    """Return the properties of the templates' alarms by what they watch and metric."""
    resources = [
        part
        for name in ("service", "budget")
        for part in aws.template(name, **conditions)["Resources"].values()
    ]
    found = [part["Properties"] for part in resources if part["Type"] == "AWS::CloudWatch::Alarm"]
    return {(one["Dimensions"][0]["Value"]["Ref"], one["MetricName"]): one for one in found}


def test_with_an_address_each_function_has_alarms_that_reach_it():
    with_panel = alarms(has_panel=True, HasAlarms=True, HasPanelAlarms=True)

    assert {one for one, _ in alarms(has_panel=True)} == {"Distribution"}  # whose stack needs an address
    watched = {name: {metric for one, metric in with_panel if one == f"{name}Function"} for name in FUNCTIONS}
    assert watched == {
        "Api": {"Errors", "Throttles", "Url5xxCount", "Duration"},
        "Score": {"Errors", "Throttles", "Url5xxCount"},
        "Work": {"Errors", "Invocations"},
        "Panel": {"Errors", "Invocations"},
    }
    for template_name in ("service", "budget"):
        topic = aws.template(template_name, HasAlarms=True)["Resources"]["AlarmSubscription"]["Properties"]
        assert (topic["Endpoint"], topic["TopicArn"]) == ({"Ref": "AlarmMail"}, {"Ref": "AlarmTopic"})
    assert all(alarm["AlarmActions"] == [{"Ref": "AlarmTopic"}] for alarm in with_panel.values())


def test_cloudfronts_errors_are_watched_where_its_metrics_are():
    """Developer guide of CloudFront, "Types of metrics": us-east-1, by distribution and the region Global."""
    alarm = alarms()["Distribution", "5xxErrorRate"]

    assert alarm["Namespace"] == "AWS/CloudFront"
    assert alarm["Dimensions"][1] == {"Name": "Region", "Value": "Global"}
    assert "Distribution" in SERVICE["Outputs"]
    assert REGIONS_OF["budget"] == ["us-east-1"]


def test_one_who_waits_for_a_file_raises_no_alarm():
    """The longest takes two minutes for 1,000 evaluators, and each time it is asked for is a 503."""
    refusals, of_distribution = (
        alarms(HasAlarms=True)["ScoreFunction", "Url5xxCount"],
        alarms()["Distribution", "5xxErrorRate"],
    )

    assert refusals["EvaluationPeriods"] * refusals["Period"] >= 900
    assert of_distribution["DatapointsToAlarm"] * of_distribution["Period"] >= 600


def test_the_price_of_alarms_is_that_of_the_template():
    without, with_panel = alarms(HasAlarms=True), alarms(has_panel=True, HasAlarms=True, HasPanelAlarms=True)
    prices = costs.prices()

    # "CloudWatch pricing": $0.10 a month for an alarm of standard resolution on one metric
    assert costs.alarms_usd(prices, has_panel=False) == pytest.approx(0.10 * len(without))
    assert costs.alarms_usd(prices, has_panel=True) == pytest.approx(0.10 * len(with_panel))


def test_an_alarm_for_silence_is_raised_where_nothing_is_measured_and_others_are_not():
    found = alarms(has_panel=True, HasAlarms=True, HasPanelAlarms=True)
    every_s = {"WorkFunction": 300, "PanelFunction": 60}  # rate(5 minutes), rate(1 minute)

    for (name, metric), alarm in found.items():
        is_silence = metric == "Invocations"
        assert alarm["TreatMissingData"] == ("breaching" if is_silence else "notBreaching")
        if is_silence:
            assert alarm["Period"] >= 5 * every_s[name]
    slow = found["ApiFunction", "Duration"]
    seconds = RESOURCES["ApiFunction"]["Properties"]["Environment"]["Variables"]["OPENHYPE_REQUEST_SECONDS"]
    assert (slow["ExtendedStatistic"], slow["Threshold"] < 1000 * int(seconds)) == ("p99", True)


@pytest.mark.parametrize(
    ("uri", "file"),
    [
        ("/", "/root.html"),
        ("/w/0123", "/withdraw.html"),
        ("/w/0123/", "/withdraw.html"),
        ("/wait/faces", "/wait.html"),
        ("/timing.html", "/timing.html"),
        ("/assets/0123456789ab/task/main.js", "/assets/0123456789ab/task/main.js"),
        ("/i/faces/00.png", "/i/faces/00.png"),
    ],
)
def test_addresses_of_the_page_lead_to_its_files(uri, file):
    code = RESOURCES["Route"]["Properties"]["FunctionCode"]

    assert node.evaluate(f"{code}; handler({json.dumps({'request': {'uri': uri}})}).uri") == file


@pytest.mark.parametrize(
    "uri", ["/nothing", "/w/", "/w/a/b", "/studies/faces", "/packages/api.zip", "/root.html"]
)
def test_unknown_addresses_lead_to_the_page_that_says_so(uri):
    code = RESOURCES["Route"]["Properties"]["FunctionCode"]

    reply = node.evaluate(f"{code}; handler({json.dumps({'request': {'uri': uri}})})")

    assert (reply["statusCode"], reply["headers"]["location"]["value"]) == (302, "/s/")
