"""Bring a workspace's compute to what the environment variables say, for a CI job.

Reads AZURE_SUBSCRIPTION_ID, AML_RESOURCE_GROUP, AML_WORKSPACE, AML_COMPUTE_NAME, CLUSTER_RESOURCE_ID and, optionally,
COMPUTE_NAMESPACE and TIMEOUT_SECONDS. Without the first three, a config.json is used. Exit code: 0 as asked, 1 failed,
2 usage, 3 time-out (the operation goes on: run the job again, and it joins), 4 other settings are there.
"""

import logging
import os
import sys

from azureml_k8s import (
    AuthenticationException,
    ComputeTarget,
    ComputeTargetException,
    ConflictException,
    KubernetesCompute,
    OperationTimeoutException,
    UserErrorException,
    Workspace,
)

# The first that fits: an AuthenticationException is a UserErrorException too.
_EXIT_CODES = (
    (AuthenticationException, 1),
    (UserErrorException, 2),
    (OperationTimeoutException, 3),
    (ConflictException, 4),
)


def workspace() -> Workspace:
    names = [os.environ.get(key) for key in ("AZURE_SUBSCRIPTION_ID", "AML_RESOURCE_GROUP", "AML_WORKSPACE")]
    return Workspace(*names) if any(names) else Workspace.from_config()


def timeout_s() -> float:
    text = os.environ.get("TIMEOUT_SECONDS") or "1800"
    try:
        return float(text)
    except ValueError:
        raise UserErrorException(f"TIMEOUT_SECONDS: {text!r} is no number of seconds") from None


def main() -> int:
    logging.basicConfig(format="%(levelname)s %(message)s")  # to stderr
    logging.getLogger("azureml_k8s").setLevel(logging.INFO)
    try:
        limit_s = timeout_s()
        config = KubernetesCompute.attach_configuration(
            os.environ.get("CLUSTER_RESOURCE_ID"), os.environ.get("COMPUTE_NAMESPACE") or None
        )
        target = ComputeTarget.attach(workspace(), os.environ.get("AML_COMPUTE_NAME"), config)
        target.wait_for_completion(timeout=limit_s)
    except ComputeTargetException as error:
        print(error, file=sys.stderr)
        return next((code for kind, code in _EXIT_CODES if isinstance(error, kind)), 1)
    print(target.provisioning_state)
    return 0


if __name__ == "__main__":
    sys.exit(main())
