"""`openhype deploy`: check, plan, apply, and remove a deployment.

It consists of two stacks (`data.yaml`, `service.yaml`), a third in us-east-1 if somebody gets its mails
(`budget.yaml`), a secure parameter with the keys, and packages and page in the bucket. Each step first reads
the current state, so that repeating it changes nothing.
"""

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import boto3
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionError,
    HTTPClientError,
    NoCredentialsError,
)

from backend.foundation.errors import Conflict, InvalidInput, StoreFailed
from backend.stores.datadir import DataDir, Keys, digest_of_key, stored_keys
from deploy import bounds, bucket_uploads, locks, page, template
from deploy.package import STAGES, Package, build
from deploy.s3_upload import Place, s3_client
from deploy.stacks import BUDGET, DATA, SERVICE, Change, Stack

_ENOUGH_AT_ONCE = 100
"""Concurrent executions; a thousand evaluators, each answering every two seconds, need about thirty."""
_DELETED_AT_ONCE = 1000  # most keys of a DeleteObjects

_NAME = re.compile(r"[A-Za-z](?:[A-Za-z0-9-]{0,38}[A-Za-z0-9])?")
_DATA, _BUDGET = "-data", "-budget"
"""Suffixes of the names of the stacks that hold table and bucket, and what `budget.yaml` has."""
_BUDGET_REGION = "us-east-1"
"""Where CloudFront's metrics are; and most other regions do not have budgets."""
REGIONS = frozenset(
    (
        "af-south-1", "ap-east-1", "ap-northeast-1", "ap-northeast-2", "ap-northeast-3", "ap-south-1",
        "ap-southeast-1", "ap-southeast-2", "ap-southeast-3", "ca-central-1", "eu-central-1", "eu-north-1",
        "eu-south-1", "eu-west-1", "eu-west-2", "eu-west-3", "me-south-1", "sa-east-1", "us-east-1",
        "us-east-2", "us-west-1", "us-west-2",
    )
)  # fmt: skip
"""Regions with all that a deployment consists of, function URLs above all.

Source: CloudFormation's resource types by region (a test compares them), and "Creating and managing Lambda
function URLs" in the Lambda developer guide, which excludes eu-south-2 as well.
"""
_ZAPPA_PROJECT = "openhype-zappa"
"""`project_name` in `zappa_settings.json`."""

Report = Callable[[str], Any]


@dataclass(frozen=True)
class Checked:
    """Result of the checks: the account, its region, and notes to read before deploying."""

    account: str
    region: str
    notes: tuple[str, ...]


class Deployment:
    """The resources on AWS under one deployment name."""

    def __init__(
        self,
        name: str,
        data: DataDir,
        session: boto3.Session,
        text_of: Callable[[str], str] = template.text_of,
        panel: Mapping[str, str] | None = None,
        removes_panel: bool = False,
        settings: Mapping[str, str] | None = None,
        at_once: int | None = None,
    ):
        """
        Args:
            panel: `token` and `webhook_secret` of the panel to store; None to leave what is stored.
            removes_panel: remove the panel's token, and the function that uses it.
            settings: parameters of the templates to set, as `bounds.parse` returns them; others stay.
            at_once: bound throughput and concurrency for so many people at once; None to leave them, or for
                a new deployment `bounds.AT_ONCE`.
        """
        check_name(name)
        self._panel, self._removes_panel = panel, removes_panel
        self._settings, self._at_once = settings or {}, at_once
        self.name, self._data, self._session = name, data, session
        if not session.region_name:
            raise InvalidInput("no AWS region is set; use --region, AWS_REGION or a profile that has one")
        cloudformation = session.client("cloudformation")
        stack = partial(Stack, cloudformation, owner=name)
        self._stored = stack(f"{name}{_DATA}", text_of("data"), role=DATA)
        self._service = stack(name, text_of("service"), role=SERVICE)
        self._budget = Stack(
            session.client("cloudformation", region_name=_BUDGET_REGION),
            f"{name}-{session.region_name}{_BUDGET}",
            text_of("budget"),
            owner=name,
            role=BUDGET,
        )
        self._s3, self._ssm = s3_client(session), session.client("ssm")

    @property
    def keys_name(self) -> str:
        """The secure parameter that holds the keys."""
        return f"/openhype/{self.name}/keys"

    @property
    def panel_secret_name(self) -> str:
        """The secure parameter that holds the panel's token."""
        return f"/openhype/{self.name}/panel"

    def stages(self) -> list[str]:
        """Return the stages to deploy: that of the panel only if its token is stored, or will be."""
        return [stage for stage in STAGES if stage != "panel" or self._has_panel()]

    def check(self, removes: bool = False) -> Checked:
        """Return the AWS account and notes on its limits.

        Args:
            removes: only removal will follow, which is possible in every region.

        Raises:
            InvalidInput: credentials are missing or refused, Lambda does not have this Python version, or the
                region lacks something that a deployment needs.
            StoreFailed: AWS cannot be reached.
            Conflict: a stack of the same name belongs to somebody else, or the deployment was made with the
                keys of another data directory.
        """
        if sys.version_info[:2] > locks.RUNTIMES[-1]:
            raise InvalidInput(
                f"Lambda has no Python {sys.version_info.major}.{sys.version_info.minor} yet; deploy with "
                f"{locks.RUNTIMES[-1][0]}.{locks.RUNTIMES[-1][1]} or older"
            )
        if not removes:
            check_region(self._session.region_name)
        try:
            account = self._session.client("sts").get_caller_identity()["Account"]
        except NoCredentialsError:
            raise InvalidInput("no AWS credentials found; run `aws configure`, or set AWS_PROFILE") from None
        except (HTTPClientError, ConnectionError) as error:
            raise StoreFailed(
                f"AWS could not be reached: {error}; check the network, a proxy, and the region's name"
            ) from None
        except (BotoCoreError, ClientError) as error:
            raise InvalidInput(f"AWS does not accept the credentials: {error}") from None
        for stack in (self._stored, self._service, self._budget):
            stack.description()
        self._is_key_replaced()
        return Checked(account, self._session.region_name, tuple(self._notes()))

    def plan(self, packages: Mapping[str, Package]) -> list[Change]:
        """Return what `apply` would do.

        Raises:
            Conflict: the deployed keys differ from this data directory's.
        """
        outputs, parameters = self._stored.outputs(), self._bounds()
        return [
            *self._stored.plan(self._data_parameters(parameters)),
            self._keys_change(),
            *self._panel_change(),
            *self._package_changes(packages, outputs.get("Bucket")),
            *self._old_packages_change(packages, outputs.get("Bucket")),
            self._page_change(outputs.get("Bucket")),
            *self._service.plan(self._parameters(packages, outputs, parameters)),
            *self._budget_changes(parameters),
        ]

    def apply(self, packages: Mapping[str, Package], report: Report) -> dict[str, str]:
        """Carry out the plan, and return what is deployed, as `current` does."""
        report("table and bucket …")
        parameters = self._bounds()  # before the stacks exist: a new deployment has other defaults
        self._stored.apply(self._data_parameters(parameters))
        outputs = self._stored.outputs()
        self._put_keys()
        self._put_panel()
        report("packages and page …")
        for package in packages.values():
            if not self._has(outputs["Bucket"], _package_key(package)):
                self._s3.upload_file(str(package.path), outputs["Bucket"], _package_key(package))
        place = _public(outputs["Bucket"])
        page.upload_page(place, client=self._s3)
        report("functions and distribution (some minutes) …")
        self._service.apply(self._parameters(packages, outputs, parameters))
        # Once more, now that the address of a new distribution is known.
        self._service.apply(self._parameters(packages, outputs, parameters))
        self._stored.apply(self._data_parameters(parameters))
        self._apply_budget(parameters)
        if self._removes_panel:
            self._remove_panel()
        # Only now: an update that fails is rolled back to the previous packages.
        self._delete(outputs["Bucket"], self._old_packages(packages, outputs["Bucket"]))
        self._is_key_replaced()  # by another deployment at the same time: who lost must hear of it
        return self.current()

    def current(self) -> dict[str, str]:
        """Return what is deployed: `Url`, `Table`, `Bucket` and `Region`."""
        return {
            **self._stored.outputs(), **self._service.outputs(), "Region": self._session.region_name or "",
        }  # fmt: skip

    def planned_removal(self, with_data: bool) -> list[Change]:
        """Return what `remove` would delete, and what it would leave."""
        outputs = self._stored.outputs()
        changes = [*self._service.planned_removal(), *self._budget.planned_removal()]
        if outputs:
            changes.append(Change("remove", f"page and packages in {outputs['Bucket']}"))
        if self._stored_panel() is not None:
            changes.append(Change("remove", f"the panel's token in {self.panel_secret_name}"))
        remaining = (
            [] if not outputs else [f"studies and answers in {outputs['Table']}", "pictures and uploads"]
        )
        if self._stored_keys() is not None:
            remaining.append(f"keys in {self.keys_name}")
        changes += [Change("remove" if with_data else "leave", what) for what in remaining]
        return [*changes, *(self._stored.planned_removal() if with_data else [])]

    def remove(self, with_data: bool, report: Report) -> None:
        """Delete the service, and the data only if `with_data`.

        Raises:
            Conflict: the deployment was made with the keys of another data directory.
        """
        self._is_key_replaced()
        outputs = self._stored.outputs()
        report("functions and distribution (some minutes) …")
        self._service.remove()
        self._budget.remove()
        self._remove_panel()
        if outputs:
            bucket = outputs["Bucket"]
            report("page and packages …")
            self._delete(bucket, [key for key in self._keys_of(bucket) if with_data or not _is_data(key)])
        if with_data:
            report("table and bucket …")
            if outputs:
                client = self._session.client("dynamodb")
                with suppress(client.exceptions.ResourceNotFoundException):  # by a deletion that broke off
                    client.update_table(TableName=outputs["Table"], DeletionProtectionEnabled=False)
            self._stored.remove()
            if self._stored_keys() is not None:
                self._ssm.delete_parameter(Name=self.keys_name)

    def _bounds(self) -> dict[str, str]:
        """Return the parameters of `bounds.SETTINGS`: as given, else as they are, else by default."""
        before = self._service.parameters()
        parameters = {
            **(self._stored.parameters() or {}), **(self._budget.parameters() or {}), **(before or {}),
        }  # fmt: skip
        if self._at_once is not None or before is None:
            parameters |= bounds.defaults(self._at_once or bounds.AT_ONCE, self._account_limit())
        parameters |= self._settings
        bounds.check(parameters)
        return parameters

    def _data_parameters(self, parameters: Mapping[str, str]) -> dict[str, str]:
        """Return the parameters of the stack of data, with the origins at which the console is served."""
        deployed = self._service.outputs()
        origins = {deployed.get("Url"), f"https://{deployed['Address']}" if "Address" in deployed else None}
        return {**bounds.of_stack(parameters, DATA), "Origins": ",".join(sorted(filter(None, origins)))}

    def _budget_changes(self, parameters: Mapping[str, str]) -> list[Change]:
        budget = self._budget_parameters(parameters)
        return self._budget.plan(budget) if budget["AlarmMail"] else self._budget.planned_removal()

    def _apply_budget(self, parameters: Mapping[str, str]) -> None:
        budget = self._budget_parameters(parameters)
        if budget["AlarmMail"]:
            self._budget.apply(budget)
        else:
            self._budget.remove()

    def _budget_parameters(self, parameters: Mapping[str, str]) -> dict[str, str]:
        """Return the parameters of what sends mails from us-east-1, with the distribution that it watches."""
        distribution = self._service.outputs().get("Distribution", "")
        return {**bounds.of_stack(parameters, BUDGET), "Distribution": distribution}

    def _parameters(
        self, packages: Mapping[str, Package], outputs: Mapping[str, str], parameters: Mapping[str, str]
    ) -> dict[str, str]:
        return {
            **bounds.of_stack(parameters, SERVICE),
            "Table": outputs.get("Table", ""),
            "Bucket": outputs.get("Bucket", ""),
            "Keys": self.keys_name,
            "KeysVersion": self._keys_version(),
            "Runtime": next(iter(packages.values())).runtime,
            "PanelPackage": "",
            **{f"{stage.title()}Package": _package_key(package) for stage, package in packages.items()},
            "PanelSecret": self.panel_secret_name if self._has_panel() else "",
            "PanelVersion": self._panel_version(),
            "Url": self._url(parameters),
        }

    def _url(self, parameters: Mapping[str, str]) -> str:
        """Return where browsers reach the pages; '' before that is known."""
        if domain := parameters.get(bounds.SETTINGS["domain"].parameter):
            return f"https://{domain}"
        address = self._service.outputs().get("Address")
        return f"https://{address}" if address else ""

    def _account_limit(self) -> int | None:
        """Return how many functions the account may run at once; None if that cannot be read."""
        try:
            limits = self._session.client("lambda").get_account_settings()["AccountLimit"]
        except ClientError:
            return None
        return limits["ConcurrentExecutions"]

    def _notes(self) -> list[str]:
        at_once = self._account_limit()
        if at_once is None:
            return [
                "how many functions the account may run at once could not be read; no concurrency is reserved"
            ]
        if at_once >= _ENOUGH_AT_ONCE:
            return []
        return [
            f"the account runs {at_once} functions at once; the page waits and tries again, but before a "
            f"thousand people arrive ask AWS for {_ENOUGH_AT_ONCE} or more (Service Quotas, Lambda)"
        ]

    def _stored_keys(self) -> str | None:
        try:
            return self._ssm.get_parameter(Name=self.keys_name, WithDecryption=True)["Parameter"]["Value"]
        except self._ssm.exceptions.ParameterNotFound:
            return None

    def _keys_change(self) -> Change:
        if self._stored_keys() is None:
            return Change("create", f"secure parameter {self.keys_name} with the keys of {self._data.root}")
        if self._is_key_replaced():
            return Change("change", f"the researcher's key, in the secure parameter {self.keys_name}")
        return Change("leave", f"secure parameter {self.keys_name}")

    def _own_keys(self) -> Keys:
        """Return the keys of this data directory as they are stored, whatever OPENHYPE_KEY is."""
        path = self._data.root / "keys.json"
        return stored_keys(path.read_text("utf-8"), str(path))

    def _is_key_replaced(self) -> bool:
        """Return whether this data directory has a later researcher's key than the deployment.

        Raises:
            Conflict: the deployed keys are neither those of this data directory nor earlier ones of it.
        """
        text = self._stored_keys()
        if text is None:
            return False
        deployed = stored_keys(text, self.keys_name)
        own = self._own_keys() if self._data.has_keys() else None
        if own is None or own.hashing != deployed.hashing:
            raise Conflict(
                f"other keys are in force ({self.keys_name}) than those of {self._data.root}: use --data "
                "with the directory that this deployment was made with, or copy its keys.json here; with new "
                "keys, evaluators known so far would not be recognised"
            )
        if own.researcher == deployed.researcher:
            return False
        if digest_of_key(deployed.researcher) not in own.ended:
            raise Conflict(
                f"the researcher's key of {self._data.root} is not in force ({self.keys_name}): it was "
                "replaced by one made elsewhere, or changed by hand; copy keys.json from the data directory "
                "where it was replaced, or store in its place what `aws ssm get-parameter --with-decryption "
                f"--name {self.keys_name} --query Parameter.Value --output text` prints"
            )
        return True

    def _put_keys(self) -> None:
        is_first = self._stored_keys() is None
        if is_first or self._is_key_replaced():
            self._data.keys()
            text = (self._data.root / "keys.json").read_text("utf-8")
            self._ssm.put_parameter(
                Name=self.keys_name, Type="SecureString", Value=text, Overwrite=not is_first
            )

    def _keys_version(self) -> str:
        """Return the version of the keys' parameter once this deployment is applied."""
        try:
            version = self._ssm.get_parameter(Name=self.keys_name)["Parameter"]["Version"]
        except self._ssm.exceptions.ParameterNotFound:
            version = 0
        return str(version + (version == 0 or self._is_key_replaced()))

    def _stored_panel(self) -> tuple[str, int] | None:
        """Return the stored value of the panel's parameter and its version, or None."""
        try:
            parameter = self._ssm.get_parameter(Name=self.panel_secret_name, WithDecryption=True)["Parameter"]
        except self._ssm.exceptions.ParameterNotFound:
            return None
        return parameter["Value"], parameter["Version"]

    def _has_panel(self) -> bool:
        return not self._removes_panel and (self._panel is not None or self._stored_panel() is not None)

    def _is_panel_new(self) -> bool:
        stored = self._stored_panel()
        return self._panel is not None and (stored is None or json.loads(stored[0]) != dict(self._panel))

    def _panel_version(self) -> str:
        """Return the version of the panel's parameter once it is stored; '' if there is none."""
        if not self._has_panel():
            return ""
        stored = self._stored_panel()
        return str((stored[1] if stored else 0) + self._is_panel_new())

    def _panel_change(self) -> list[Change]:
        stored = self._stored_panel()
        if (self._removes_panel and stored is None) or not (self._removes_panel or self._has_panel()):
            return []
        verb = "leave"
        if self._removes_panel:
            verb = "remove"
        elif self._is_panel_new():
            verb = "change" if stored else "create"
        return [Change(verb, f"the panel's token, in the secure parameter {self.panel_secret_name}")]

    def _put_panel(self) -> None:
        if self._panel is not None and self._is_panel_new():
            value = json.dumps(dict(self._panel))
            self._ssm.put_parameter(
                Name=self.panel_secret_name, Type="SecureString", Value=value, Overwrite=True
            )

    def _remove_panel(self) -> None:
        with suppress(self._ssm.exceptions.ParameterNotFound):
            self._ssm.delete_parameter(Name=self.panel_secret_name)

    def _package_changes(self, packages: Mapping[str, Package], bucket: str | None) -> list[Change]:
        def verb(package: Package) -> str:
            return "leave" if bucket and self._has(bucket, _package_key(package)) else "create"

        return [
            Change(verb(package), f"package of {stage}, {package.size / 2**20:.1f} MiB")
            for stage, package in packages.items()
        ]

    def _old_packages(self, packages: Mapping[str, Package], bucket: str) -> list[str]:
        current = set(map(_package_key, packages.values()))
        return [key for key in self._keys_of(bucket, f"{template.PACKAGES}/") if key not in current]

    def _old_packages_change(self, packages: Mapping[str, Package], bucket: str | None) -> list[Change]:
        old = self._old_packages(packages, bucket) if bucket else []
        return [Change("remove", f"packages of earlier versions, {len(old)}")] if old else []

    def _page_change(self, bucket: str | None) -> Change:
        count = len(page.pages()) + len(page.loaded())
        if bucket is None:
            return Change("create", f"the page, {count} files")
        missing = page.missing_page(_public(bucket), self._s3)
        if not missing:
            return Change("leave", f"the page, {count} files")
        return Change("change", f"the page, {len(missing)} of {count} files")

    def _has(self, bucket: str, key: str) -> bool:
        listed = self._s3.list_objects_v2(Bucket=bucket, Prefix=key, MaxKeys=1)
        return any(entry["Key"] == key for entry in listed.get("Contents", ()))

    def _keys_of(self, bucket: str, prefix: str = "") -> list[str]:
        pages = self._s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        try:
            return [entry["Key"] for page in pages for entry in page.get("Contents", ())]
        except self._s3.exceptions.NoSuchBucket:  # by a deletion that broke off
            return []

    def _delete(self, bucket: str, keys: list[str]) -> None:
        for start in range(0, len(keys), _DELETED_AT_ONCE):
            objects = [{"Key": key} for key in keys[start : start + _DELETED_AT_ONCE]]
            done = self._s3.delete_objects(Bucket=bucket, Delete={"Objects": objects, "Quiet": True})
            if done.get("Errors"):
                raise StoreFailed(f"{bucket}: {done['Errors'][0]['Message']}")


def check_name(name: str) -> None:
    """Raise InvalidInput if a name is not valid for a deployment and the resources named after it."""
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            "a deployment's name must have 1 to 40 letters, digits and hyphens, begin with a letter and "
            f"not end in a hyphen, not be {name!r}"
        )
    for suffix in (_DATA, _BUDGET):
        if name.endswith(suffix):
            raise InvalidInput(
                f"a deployment's name must not end in {suffix}, as one of its stacks does: {name!r} could be "
                f"that of the deployment {name.removesuffix(suffix)!r}"
            )
    if name == _ZAPPA_PROJECT:
        raise InvalidInput(
            f"a deployment must not be named {name!r}, as the functions of plain `zappa deploy` are"
        )


def check_region(region: str) -> None:
    """Raise InvalidInput if a region lacks something that a deployment consists of."""
    if region not in REGIONS:
        raise InvalidInput(
            f"the region {region} does not have all that a deployment needs, such as function URLs; choose "
            f"another with --region: {', '.join(sorted(REGIONS))}"
        )


def build_packages(out: Path, stages: Iterable[str], report: Report) -> dict[str, Package]:
    """Return the packages by stage; build those that are missing."""
    packages = {}
    for stage in stages:
        report(f"package of {stage} …")
        packages[stage] = build(stage, out)
    return packages


def _public(bucket: str) -> Place:
    return Place(bucket, f"{template.PUBLIC}/")


def _package_key(package: Package) -> str:
    return f"{template.PACKAGES}/{package.stage}-{package.sha256[:16]}.zip"


def _is_data(key: str) -> bool:
    """Return whether an object is a picture of a study, or of an upload, for which a submission may wait."""
    return key.startswith((f"{template.PUBLIC}/i/", f"{bucket_uploads.BOOK}/"))
