"""What is made on AWS, as two CloudFormation templates: the data, and the service over it.

Two stacks, so that the service can be removed and made again while studies, answers and pictures stay.
`python -m deploy.template` writes them as `data.json` and `service.json`, which are kept under version
control to be read and compared; a test holds them to this module.
"""

import json
from pathlib import Path
from typing import Any

from backend.stores.dynamodb.session_records import TTL_ATTRIBUTE
from backend.stores.dynamodb.store import table_definition
from backend.web import headers
from deploy import package

HERE = Path(__file__).resolve().parent
PUBLIC = "public"
"""The folder of the bucket that CloudFront serves; packages lie outside of it."""
PACKAGES = "packages"
_EXPIRE_DAYS = 30
"""After which a session that was opened and never begun is deleted."""

_HSTS_SECONDS = 63072000
_TELLING = ("ETag", "Last-Modified", "Server", "x-amz-server-side-encryption")
"""Headers of the bucket that browsers need not see."""
# Managed policies of CloudFront have the same ids in every account.
_CACHING_OPTIMIZED = "658327ea-f89d-4fab-a63d-7e88639e58f6"
_CACHING_DISABLED = "4135ea2d-6df8-44a3-9df3-4b5a84be39ad"
_ALL_BUT_HOST = "b689b0a8-53d0-40ab-baf2-68738e2966ac"
_LOG_DAYS = 30
_READ = ["dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:Query"]
_WRITE = ["dynamodb:DeleteItem", "dynamodb:PutItem", "dynamodb:UpdateItem"]

Json = dict[str, Any]


def data_template() -> Json:
    """Return the template of what holds studies, answers and pictures."""
    table = table_definition("")
    del table["TableName"]  # CloudFormation finds one
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": "openhype: studies and answers (table), pictures and page (bucket)",
        "Resources": {
            "Table": {
                "Type": "AWS::DynamoDB::Table",
                "Properties": {
                    **table,
                    "TimeToLiveSpecification": {"AttributeName": TTL_ATTRIBUTE, "Enabled": True},
                    "DeletionProtectionEnabled": True,
                    "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
                },
                "DeletionPolicy": "Delete",
                "UpdateReplacePolicy": "Retain",
            },
            "Bucket": {
                "Type": "AWS::S3::Bucket",
                "Properties": {
                    "BucketEncryption": {
                        "ServerSideEncryptionConfiguration": [
                            {"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}
                        ]
                    },
                    "OwnershipControls": {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]},
                    "PublicAccessBlockConfiguration": {
                        "BlockPublicAcls": True,
                        "BlockPublicPolicy": True,
                        "IgnorePublicAcls": True,
                        "RestrictPublicBuckets": True,
                    },
                    "LifecycleConfiguration": {
                        "Rules": [
                            {
                                "Id": "uploads-that-broke-off",
                                "Status": "Enabled",
                                "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 7},
                            }
                        ]
                    },
                },
                "DeletionPolicy": "Delete",
                "UpdateReplacePolicy": "Retain",
            },
        },
        "Outputs": {
            "Table": {"Value": _ref("Table")},
            "Bucket": {"Value": _ref("Bucket")},
        },
    }


def service_template() -> Json:
    """Return the template of functions, roles and distribution."""
    resources = _distribution()
    for stage in package.STAGES:
        resources |= _function(stage)
    resources["Researcher"] = _researcher()
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": "openhype: the API as Lambda functions, and the CloudFront distribution before them",
        "Parameters": {
            "Table": _text("Name of the table."),
            "Bucket": _text("Name of the bucket."),
            "Keys": _text("Name of the secure parameter with the keys, such as /openhype/NAME/keys."),
            "Runtime": _text("Lambda runtime that the packages were built for."),
            **{
                f"{stage.title()}Package": _text(f"Key in the bucket of the package of {stage}.")
                for stage in package.STAGES
            },
        },
        "Resources": resources,
        "Outputs": {
            "Url": {"Value": _sub("https://${Distribution.DomainName}")},
            "Distribution": {"Value": _ref("Distribution")},
            "ResearcherPolicy": {"Value": _ref("Researcher")},
        },
    }


def page_policy() -> Json:
    """Return the configuration of the headers that CloudFront sends with page and pictures."""
    sent = dict(headers.PAGE)
    return {
        "Name": _sub("${AWS::StackName}-page"),
        "SecurityHeadersConfig": {
            "ContentSecurityPolicy": {
                "ContentSecurityPolicy": sent.pop("Content-Security-Policy"),
                "Override": True,
            },
            "ContentTypeOptions": _only_with(sent.pop("X-Content-Type-Options"), "nosniff"),
            "ReferrerPolicy": {"ReferrerPolicy": sent.pop("Referrer-Policy"), "Override": True},
            "StrictTransportSecurity": _hsts(),
        },
        "CustomHeadersConfig": {
            "Items": [{"Header": name, "Value": value, "Override": True} for name, value in sent.items()]
        },
        "RemoveHeadersConfig": {"Items": [{"Header": name} for name in _TELLING]},
    }


def module_policy() -> Json:
    """Return the same for the modules of the page, which a frame without an origin loads too."""
    return {
        **page_policy(),
        "Name": _sub("${AWS::StackName}-modules"),
        "CorsConfig": {
            "AccessControlAllowCredentials": False,
            "AccessControlAllowHeaders": {"Items": ["*"]},
            "AccessControlAllowMethods": {"Items": ["GET", "HEAD"]},
            "AccessControlAllowOrigins": {"Items": [headers.MODULE["Access-Control-Allow-Origin"]]},
            "OriginOverride": True,
        },
    }


def _distribution() -> Json:
    files = {
        "TargetOriginId": "files",
        "ViewerProtocolPolicy": "redirect-to-https",
        "AllowedMethods": ["GET", "HEAD"],
        "CachePolicyId": _CACHING_OPTIMIZED,
        "ResponseHeadersPolicyId": _ref("PageHeaders"),
        "Compress": True,
        "FunctionAssociations": [
            {"EventType": "viewer-request", "FunctionARN": _get("Route", "FunctionARN")}
        ],
    }
    behaviours = [
        _to_function("/api/studies/*/scores", "score"),
        _to_function("/api/*", "api"),
        {**files, "PathPattern": "/assets/*.js", "ResponseHeadersPolicyId": _ref("ModuleHeaders")},
    ]
    origins = [
        {
            "Id": "files",
            "DomainName": _sub("${Bucket}.s3.${AWS::Region}.${AWS::URLSuffix}"),
            "OriginPath": f"/{PUBLIC}",
            "S3OriginConfig": {"OriginAccessIdentity": ""},
            "OriginAccessControlId": _ref("FilesAccess"),
        },
        *(_function_origin(stage) for stage in package.STAGES),
    ]
    return {
        "FilesAccess": {
            "Type": "AWS::CloudFront::OriginAccessControl",
            "Properties": {
                "OriginAccessControlConfig": {
                    "Name": _sub("${AWS::StackName}-files"),
                    "OriginAccessControlOriginType": "s3",
                    "SigningBehavior": "always",
                    "SigningProtocol": "sigv4",
                }
            },
        },
        "FilesPolicy": {"Type": "AWS::S3::BucketPolicy", "Properties": _files_policy()},
        "Route": {
            "Type": "AWS::CloudFront::Function",
            "Properties": {
                "Name": _sub("${AWS::StackName}-route"),
                "AutoPublish": True,
                "FunctionCode": (HERE / "route.js").read_text("utf-8"),
                "FunctionConfig": {"Comment": "addresses of the page", "Runtime": "cloudfront-js-2.0"},
            },
        },
        "PageHeaders": {
            "Type": "AWS::CloudFront::ResponseHeadersPolicy",
            "Properties": {"ResponseHeadersPolicyConfig": page_policy()},
        },
        "ModuleHeaders": {
            "Type": "AWS::CloudFront::ResponseHeadersPolicy",
            "Properties": {"ResponseHeadersPolicyConfig": module_policy()},
        },
        "ApiHeaders": {
            "Type": "AWS::CloudFront::ResponseHeadersPolicy",
            "Properties": {
                "ResponseHeadersPolicyConfig": {
                    "Name": _sub("${AWS::StackName}-api"),
                    "SecurityHeadersConfig": {"StrictTransportSecurity": _hsts()},
                }
            },
        },
        "Distribution": {
            "Type": "AWS::CloudFront::Distribution",
            "Properties": {
                "DistributionConfig": {
                    "Comment": _sub("${AWS::StackName}"),
                    "Enabled": True,
                    "HttpVersion": "http2and3",
                    "IPV6Enabled": True,
                    "PriceClass": "PriceClass_All",
                    "Origins": origins,
                    "DefaultCacheBehavior": files,
                    "CacheBehaviors": behaviours,
                }
            },
        },
    }


def _files_policy() -> Json:
    distribution = _sub("arn:${AWS::Partition}:cloudfront::${AWS::AccountId}:distribution/${Distribution}")
    return {
        "Bucket": _ref("Bucket"),
        "PolicyDocument": {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Effect": "Allow",
                    "Principal": {"Service": "cloudfront.amazonaws.com"},
                    "Action": "s3:GetObject",
                    "Resource": _sub(f"arn:${{AWS::Partition}}:s3:::${{Bucket}}/{PUBLIC}/*"),
                    "Condition": {"StringEquals": {"AWS:SourceArn": distribution}},
                },
                {
                    "Effect": "Deny",
                    "Principal": "*",
                    "Action": "s3:*",
                    "Resource": [
                        _sub("arn:${AWS::Partition}:s3:::${Bucket}"),
                        _sub("arn:${AWS::Partition}:s3:::${Bucket}/*"),
                    ],
                    "Condition": {"Bool": {"aws:SecureTransport": "false"}},
                },
            ],
        },
    }


def _function(stage: str) -> Json:
    """Return a function with its role, log, address and the permission to be asked at it."""
    title, settings = stage.title(), package.settings(stage)
    return {
        f"{title}Log": {
            "Type": "AWS::Logs::LogGroup",
            "Properties": {
                "LogGroupName": _sub(f"/aws/lambda/${{AWS::StackName}}-{stage}"),
                "RetentionInDays": _LOG_DAYS,
            },
            "DeletionPolicy": "Delete",
            "UpdateReplacePolicy": "Delete",
        },
        f"{title}Role": {
            "Type": "AWS::IAM::Role",
            "Properties": {
                "AssumeRolePolicyDocument": {
                    "Version": "2012-10-17",
                    "Statement": [
                        {
                            "Effect": "Allow",
                            "Principal": {"Service": "lambda.amazonaws.com"},
                            "Action": "sts:AssumeRole",
                        }
                    ],
                },
                "Policies": [{"PolicyName": "openhype", "PolicyDocument": _function_policy(stage)}],
            },
        },
        f"{title}Function": {
            "Type": "AWS::Lambda::Function",
            "Properties": {
                "FunctionName": _sub(f"${{AWS::StackName}}-{stage}"),
                "Runtime": _ref("Runtime"),
                "Handler": package.HANDLER,
                "Code": {"S3Bucket": _ref("Bucket"), "S3Key": _ref(f"{title}Package")},
                "Role": _get(f"{title}Role", "Arn"),
                "MemorySize": settings["memory_size"],
                "Timeout": settings["timeout_seconds"],
                "LoggingConfig": {"LogGroup": _ref(f"{title}Log")},
                "Environment": {
                    "Variables": {
                        "OPENHYPE_STORE": _sub(
                            f"dynamodb://${{Table}}?region=${{AWS::Region}}&expire_days={_EXPIRE_DAYS}"
                        ),
                        "OPENHYPE_KEYS": _sub("ssm:${Keys}"),
                        "INSTANTIATE_LAMBDA_HANDLER_ON_IMPORT": "1",
                    }
                },
            },
        },
        f"{title}Url": {
            "Type": "AWS::Lambda::Url",
            "Properties": {"TargetFunctionArn": _ref(f"{title}Function"), "AuthType": "NONE"},
        },
        # Public, as the API is: signing by CloudFront would take the place of the evaluator's own
        # Authorization header. Only by way of the address, never by Lambda's Invoke.
        f"{title}Ask": {
            "Type": "AWS::Lambda::Permission",
            "Properties": {
                "FunctionName": _ref(f"{title}Function"),
                "Action": "lambda:InvokeFunctionUrl",
                "Principal": "*",
                "FunctionUrlAuthType": "NONE",
            },
        },
        f"{title}Invoke": {
            "Type": "AWS::Lambda::Permission",
            "Properties": {
                "FunctionName": _ref(f"{title}Function"),
                "Action": "lambda:InvokeFunction",
                "Principal": "*",
                "InvokedViaFunctionUrl": True,
            },
        },
    }


def _function_policy(stage: str) -> Json:
    log = (
        f"arn:${{AWS::Partition}}:logs:${{AWS::Region}}:${{AWS::AccountId}}:log-group:${{{stage.title()}Log}}"
    )
    return {
        "Version": "2012-10-17",
        "Statement": [
            _allow(_READ if stage == "score" else sorted(_READ + _WRITE), _table_arn()),
            _allow(["ssm:GetParameter"], _keys_arn()),
            _allow(["logs:CreateLogStream", "logs:PutLogEvents"], _sub(f"{log}:*")),
        ],
    }


def _researcher() -> Json:
    """Return the policy with which `create`, `upload`, `status`, `score` and `export` work from elsewhere."""
    bucket = "arn:${AWS::Partition}:s3:::${Bucket}"
    listing = _allow(["s3:ListBucket"], _sub(bucket))
    listing["Condition"] = {"StringLike": {"s3:prefix": f"{PUBLIC}/i/*"}}
    return {
        "Type": "AWS::IAM::ManagedPolicy",
        "Properties": {
            "Description": "Make studies, watch and score them",
            "PolicyDocument": {
                "Version": "2012-10-17",
                "Statement": [
                    _allow(sorted(_READ + _WRITE), _table_arn()),
                    _allow(["s3:PutObject"], _sub(f"{bucket}/{PUBLIC}/i/*")),
                    listing,
                ],
            },
        },
    }


def _table_arn() -> Json:
    return _sub("arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${Table}")


def _keys_arn() -> Json:
    return _sub("arn:${AWS::Partition}:ssm:${AWS::Region}:${AWS::AccountId}:parameter${Keys}")


def _allow(actions: list[str], resource: Json) -> Json:
    return {"Effect": "Allow", "Action": actions, "Resource": resource}


def _to_function(path: str, stage: str) -> Json:
    return {
        "PathPattern": path,
        "TargetOriginId": stage,
        "ViewerProtocolPolicy": "https-only",
        "AllowedMethods": ["GET", "HEAD", "OPTIONS", "PUT", "POST", "PATCH", "DELETE"],
        "CachePolicyId": _CACHING_DISABLED,
        "OriginRequestPolicyId": _ALL_BUT_HOST,
        "ResponseHeadersPolicyId": _ref("ApiHeaders"),
        "Compress": True,
    }


def _function_origin(stage: str) -> Json:
    address = {"Fn::Split": ["/", _get(f"{stage.title()}Url", "FunctionUrl")]}
    return {
        "Id": stage,
        "DomainName": {"Fn::Select": [2, address]},
        "CustomOriginConfig": {
            "OriginProtocolPolicy": "https-only",
            "OriginSSLProtocols": ["TLSv1.2"],
            "OriginReadTimeout": package.settings(stage)["timeout_seconds"],
        },
    }


def _hsts() -> Json:
    return {
        "AccessControlMaxAgeSec": _HSTS_SECONDS,
        "IncludeSubdomains": True,
        "Override": True,
    }


def _only_with(value: str, expected: str) -> Json:
    if value != expected:
        raise ValueError(f"CloudFront sends {expected!r} here and nothing else, not {value!r}")
    return {"Override": True}


def _text(description: str) -> Json:
    return {"Type": "String", "Description": description}


def _ref(name: str) -> Json:
    return {"Ref": name}


def _get(name: str, attribute: str) -> Json:
    return {"Fn::GetAtt": [name, attribute]}


def _sub(text: str) -> Json:
    return {"Fn::Sub": text}


TEMPLATES = {"data": data_template, "service": service_template}


def text_of(name: str) -> str:
    """Return a template as it is kept and sent."""
    return json.dumps(TEMPLATES[name](), indent=2) + "\n"


if __name__ == "__main__":
    for _name in TEMPLATES:
        (HERE / f"{_name}.json").write_text(text_of(_name), "utf-8")
