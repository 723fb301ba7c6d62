"""The api-versions that each resource type accepts, and ARM's answers to any other."""

from __future__ import annotations

import re

from azureml_k8s.emulator._answers import arm_refusal
from azureml_k8s.emulator._http import RecordedRequest

__all__ = ["VERSIONS", "check_api_version"]

_ML_PUBLIC = """
2018-03-01-preview 2018-11-19 2019-05-01 2019-06-01 2019-11-01 2020-01-01 2020-02-18-preview 2020-03-01 2020-04-01
2020-05-01-preview 2020-05-15-preview 2020-06-01 2020-08-01 2020-09-01-preview 2021-01-01 2021-03-01-preview
2021-04-01 2021-07-01 2022-01-01-preview 2022-02-01-preview 2022-05-01 2022-06-01-preview 2022-10-01
2022-10-01-preview 2022-12-01-preview 2023-02-01-preview 2023-04-01 2023-04-01-preview 2023-06-01-preview
2023-08-01-preview 2023-10-01 2024-01-01-preview 2024-04-01 2024-04-01-preview 2024-07-01-preview 2024-10-01
2024-10-01-preview 2025-01-01-preview 2025-04-01 2025-04-01-preview 2025-06-01 2025-07-01-preview 2025-09-01
2025-10-01-preview 2025-12-01 2026-01-15-preview 2026-03-01 2026-03-15-preview 2026-05-01 2026-05-15-preview
2026-07-01 2026-07-15-preview 2026-09-01
"""
# Sent by azureml-core and by the Azure CLI of December 2021; they work, though no public list names them.
_ML_UNLISTED = "2020-02-02 2021-10-01"
# Of the clusters: the stable versions of recent years; of the rest: those of the client packages of these years.
_AKS = """
2022-01-01 2022-02-01 2022-03-01 2022-04-01 2022-06-01 2022-07-01 2022-08-01 2022-09-01 2022-11-01 2023-01-01
2023-02-01 2023-03-01 2023-04-01 2023-05-01 2023-06-01 2023-07-01 2023-08-01 2023-09-01 2023-10-01 2023-11-01
2024-01-01 2024-02-01 2024-05-01 2024-06-01 2024-07-01 2024-08-01 2024-09-01 2024-10-01 2025-01-01 2025-02-01
2025-03-01 2025-04-01 2025-05-01 2025-06-01 2025-07-01 2025-08-01 2025-09-01 2025-10-01 2026-05-01 2026-08-01
"""
_RESOURCES = """
2016-02-01 2016-06-01 2018-05-01 2019-10-01 2020-01-01 2020-06-01 2021-01-01 2021-04-01 2022-09-01 2022-12-01
2024-03-01 2024-07-01 2024-11-01 2025-03-01 2025-04-01
"""

VERSIONS: dict[str, tuple[str, ...]] = {
    "Microsoft.MachineLearningServices": tuple(sorted(f"{_ML_PUBLIC} {_ML_UNLISTED}".split())),
    "Microsoft.ContainerService": tuple(_AKS.split()),
    "Microsoft.Kubernetes": (
        "2021-03-01",
        "2021-10-01",
        "2022-10-01-preview",
        "2024-01-01",
        "2025-12-01",
        "2026-05-01",
    ),
    "Microsoft.KubernetesConfiguration": (
        "2022-03-01",
        "2022-07-01",
        "2022-11-01",
        "2023-05-01",
        "2024-11-01",
        "2025-03-01",
    ),
    "Microsoft.ManagedIdentity": ("2018-11-30", "2022-01-31-preview", "2023-01-31", "2023-07-31-preview", "2024-11-30"),
    "Microsoft.Authorization": ("2015-07-01", "2018-09-01-preview", "2020-10-01-preview", "2022-04-01"),
    "Microsoft.Resources": tuple(_RESOURCES.split()),
    "Metadata": ("2015-01-01", "2018-05-01", "2019-05-01", "2020-06-01", "2022-09-01"),
}
_FORM = re.compile(r"\d{4}-\d{2}-\d{2}(-[a-z0-9]+)?", re.IGNORECASE)


def check_api_version(request: RecordedRequest, *, namespace: str, resource_type: str, location: str) -> None:
    """Raise ARM's 400 unless the request names a version that the resource type accepts."""
    version = request.api_version()
    if not version:
        raise arm_refusal(
            400,
            "MissingApiVersionParameter",
            "The api-version query parameter (?api-version=) is required for all requests.",
        )
    accepted = VERSIONS[namespace]
    if version.lower() in accepted:
        return
    offered = ", ".join(accepted)
    if not _FORM.fullmatch(version):
        raise arm_refusal(
            400,
            "InvalidApiVersionParameter",
            f"The api-version '{version}' is invalid. The supported versions are '{offered}'.",
        )
    raise arm_refusal(
        400,
        "NoRegisteredProviderFound",
        f"No registered resource provider found for location '{location}' and API version '{version}' for type "
        f"'{resource_type}'. The supported api-versions are '{offered}'. The supported locations are '{location}'.",
    )
