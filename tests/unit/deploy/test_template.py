"""What is made on AWS: as the kept files say, private by default, and with no right that is not needed."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from backend.web import headers
from deploy import template
from tests import node

SERVICE = template.service_template()
RESOURCES = SERVICE["Resources"]
DISTRIBUTION = RESOURCES["Distribution"]["Properties"]["DistributionConfig"]


@pytest.mark.parametrize("name", list(template.TEMPLATES))
def test_the_kept_file_is_the_template(name):
    assert (template.HERE / f"{name}.json").read_text("utf-8") == template.text_of(name), (
        "run `python -m deploy.template`"
    )


def test_cloudformation_has_nothing_to_object():
    files = [str(template.HERE / f"{name}.json") for name in template.TEMPLATES]

    lint = Path(sys.executable).with_name("cfn-lint")
    done = subprocess.run([lint, *files], capture_output=True, text=True)

    assert (done.returncode, done.stdout) == (0, "")


def test_cloudfront_sends_the_headers_that_the_server_sends():
    policy = template.page_policy()

    security = policy["SecurityHeadersConfig"]
    sent = {item["Header"]: item["Value"] for item in policy["CustomHeadersConfig"]["Items"]}
    sent["Content-Security-Policy"] = security["ContentSecurityPolicy"]["ContentSecurityPolicy"]
    sent["Referrer-Policy"] = security["ReferrerPolicy"]["ReferrerPolicy"]
    assert security["ContentTypeOptions"] == {"Override": True}
    assert {**sent, "X-Content-Type-Options": "nosniff"} == headers.PAGE
    assert security["StrictTransportSecurity"]["AccessControlMaxAgeSec"] >= 365 * 24 * 3600
    removed = {item["Header"] for item in policy["RemoveHeadersConfig"]["Items"]}
    assert {"ETag", "Last-Modified"} <= removed


def test_cloudfront_lets_a_frame_without_an_origin_load_modules_and_nothing_else():
    modules = [b for b in DISTRIBUTION["CacheBehaviors"] if b["PathPattern"] == "/assets/*.js"]
    cors = template.module_policy()["CorsConfig"]

    assert [b["ResponseHeadersPolicyId"] for b in modules] == [{"Ref": "ModuleHeaders"}]
    assert cors["AccessControlAllowOrigins"]["Items"] == [headers.MODULE["Access-Control-Allow-Origin"]]
    assert not cors["AccessControlAllowCredentials"]
    assert "CorsConfig" not in template.page_policy()
    assert (
        template.module_policy()["SecurityHeadersConfig"] == template.page_policy()["SecurityHeadersConfig"]
    )


def test_every_behaviour_asks_for_tls_and_has_headers():
    behaviours = [DISTRIBUTION["DefaultCacheBehavior"], *DISTRIBUTION["CacheBehaviors"]]

    assert {b["ViewerProtocolPolicy"] for b in behaviours} == {"redirect-to-https", "https-only"}
    assert all("ResponseHeadersPolicyId" in b for b in behaviours)


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


def test_scores_are_computed_by_a_role_that_cannot_write():
    (policy,) = RESOURCES["ScoreRole"]["Properties"]["Policies"]

    actions = [action for s in policy["PolicyDocument"]["Statement"] for action in s["Action"]]
    assert [action for action in actions if re.search("Put(?!LogEvents)|Update|Delete", action)] == []


def test_anybody_may_ask_the_function_but_only_through_its_address():
    for stage in ("Api", "Score"):
        invoke = RESOURCES[f"{stage}Invoke"]["Properties"]
        assert (invoke["Principal"], invoke["InvokedViaFunctionUrl"]) == ("*", True)
        assert RESOURCES[f"{stage}Ask"]["Properties"]["FunctionUrlAuthType"] == "NONE"


def test_no_secret_stands_in_a_template_or_in_a_functions_variables():
    variables = RESOURCES["ApiFunction"]["Properties"]["Environment"]["Variables"]

    assert variables["OPENHYPE_KEYS"] == {"Fn::Sub": "ssm:${Keys}"}
    assert set(variables) == {"OPENHYPE_KEYS", "OPENHYPE_STORE", "INSTANTIATE_LAMBDA_HANDLER_ON_IMPORT"}


def test_the_bucket_is_private_and_packages_lie_outside_of_what_is_served():
    bucket = template.data_template()["Resources"]["Bucket"]["Properties"]
    (allowed,) = [s for n, s in statements() if n == "FilesPolicy" and s["Effect"] == "Allow"]

    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert allowed["Resource"]["Fn::Sub"].endswith("/public/*")
    assert allowed["Principal"] == {"Service": "cloudfront.amazonaws.com"}
    assert "AWS:SourceArn" in allowed["Condition"]["StringEquals"]


@pytest.mark.parametrize(
    ("uri", "file"),
    [
        ("/", "/root.html"),
        ("/s/faces", "/index.html"),
        ("/s/faces/", "/s/faces/"),
        ("/s/", "/s/"),
        ("/timing.html", "/timing.html"),
        ("/assets/0123456789ab/main.js", "/assets/0123456789ab/main.js"),
        ("/i/faces/00.png", "/i/faces/00.png"),
        ("/s/a/../../packages/api.zip", "/s/a/../../packages/api.zip"),
    ],
)
def test_addresses_of_the_page_lead_to_its_files(uri, file):
    code = RESOURCES["Route"]["Properties"]["FunctionCode"]

    assert node.evaluate(f"{code}; handler({json.dumps({'request': {'uri': uri}})}).uri") == file
