"""`KubernetesClusterResolver`: labelled pods to a cluster spec."""

from __future__ import annotations

import json
import logging
import os
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack

from azureml_k8s.cluster_resolver import _tensorflow, checks
from azureml_k8s.cluster_resolver.addresses import ADDRESSES, Address, Addressing
from azureml_k8s.cluster_resolver.base import ClusterResolver
from azureml_k8s.cluster_resolver.checks import ExecutableLocation
from azureml_k8s.cluster_resolver.compute import AttachedCompute, Options, jobs_of_run
from azureml_k8s.cluster_resolver.connection import Connection, require
from azureml_k8s.cluster_resolver.listing import PodClient
from azureml_k8s.cluster_resolver.literal import literal_spec
from azureml_k8s.cluster_resolver.membership import NOT_RUNNING, Members, Membership, NotRunning
from azureml_k8s.cluster_resolver.order import ORDERS, Order
from azureml_k8s.cluster_resolver.own_task import find_own_task
from azureml_k8s.cluster_resolver.pods import Pod
from azureml_k8s.cluster_resolver.search import Search
from azureml_k8s.cluster_resolver.source import GivenClient, PodSource
from azureml_k8s.cluster_resolver.spec import ClusterSpec
from azureml_k8s.cluster_resolver.wait import Wait, counts_by_job, seconds

__all__ = ["KubernetesClusterResolver"]

logger = logging.getLogger(__name__)


class KubernetesClusterResolver(ClusterResolver):
    """Finds the tasks of a distributed TensorFlow program among the pods of a Kubernetes cluster, by their labels.

    It takes the place of ``tf.distribute.cluster_resolver.KubernetesClusterResolver``: same arguments, defaults and
    errors, without TensorFlow. Making one sends nothing and reads no credentials. Each `cluster_spec` asks the API
    server anew; several threads may share a resolver.

    Args:
        job_to_label_mapping: Job names with their label selectors, each a list of texts or one text; pods that match
            any of a job's selectors are its tasks. It is copied. Default: ``{"worker": ["job-name=tensorflow"]}``.
        tf_server_port: The port of the tasks' TensorFlow servers, 1 to 65535.
        rpc_layer: What `master` puts in front of the address; None or ``""`` for nothing.
        override_client: An object with ``list_pod_for_all_namespaces(label_selector=...)`` that returns typed pods,
            such as the kubernetes package's ``CoreV1Api``; its ``list_namespaced_pod`` where ``namespace`` is given.
            Its errors pass unchanged. Without it, the kubernetes package connects.
        executable_location: A member of `ExecutableLocation`; not looked at where a client is given.
        namespace: None searches all namespaces, which needs a ClusterRole; a name or a list of names, those; ``"own"``
            that of the service account or of the kubeconfig's context.
        address: ``"pod_ip"``; ``"ipv4"`` or ``"ipv6"`` for that family's in dual-stack clusters; ``"host_ip"`` for the
            node's, as TensorFlow; ``"dns"`` for ``HOSTNAME.SUBDOMAIN.NAMESPACE.svc``; or a function that takes a `Pod`
            and returns its whole address, port included.
        order: ``"auto"``, ``"name"`` or ``"index"``: see the guide, docs/cluster-resolver.md.
        not_running: ``"raise"``, or ``"skip"`` to leave out pods that ended; the other tasks keep their indices.
        literal: Do as TensorFlow's class does, flaws included; the keyword arguments above must be left alone then.
        cluster_domain: Put behind DNS names, for example ``"cluster.local"``.
        clock: Monotonic seconds; for tests.
        sleep: Called with the seconds of a pause; for tests.

    Raises:
        ImportError: No client is given, and the kubernetes package is absent.
        TypeError: The mapping, a job's name, a job's selectors or the client is of the wrong type.
        ValueError: The port, the location, a namespace or a mode is none.
    """

    def __init__(
        self,
        job_to_label_mapping: Mapping[str, Sequence[str] | str] | None = None,
        tf_server_port: int | str = 8470,
        rpc_layer: str | None = "grpc",
        override_client: Any = None,
        executable_location: ExecutableLocation = ExecutableLocation.DETECT,
        *,
        namespace: str | Sequence[str] | None = None,
        address: Address | Callable[[Pod], str] = "pod_ip",
        order: Order = "auto",
        not_running: NotRunning = "raise",
        literal: bool = False,
        cluster_domain: str | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self.rpc_layer = rpc_layer
        self._clock, self._sleep = clock, sleep
        self._found: tuple[str, int] | None = None
        self._literal: tuple[Any, Any] | None = None
        if literal:
            _refuse_with_literal(namespace=namespace is not None, cluster_domain=cluster_domain)
            _refuse_with_literal(address=address != "pod_ip", order=order != "auto", not_running=not_running != "raise")
            self._literal = (job_to_label_mapping or checks.DEFAULT_JOBS, tf_server_port)
            override_client = override_client or None  # TensorFlow overlooks a client that is false
        else:
            self._jobs = checks.jobs(job_to_label_mapping)
            self._namespaces: tuple[str | None, ...] | None = (
                None if namespace == "own" else checks.namespaces(namespace)
            )
            self._membership = Membership(
                order=checks.choice(order, ORDERS, argument="order"),
                not_running=checks.choice(not_running, NOT_RUNNING, argument="not_running"),
                addressing=Addressing(
                    address=address if callable(address) else checks.choice(address, ADDRESSES, argument="address"),
                    port=checks.port(tf_server_port),
                    cluster_domain=cluster_domain,
                ),
            )
        self._source: PodSource
        if override_client is None:
            connection = Connection(checks.location(executable_location))
            require()
            self._source = PodClient(connection, clock=clock, sleep=sleep)
        else:
            self._source = GivenClient(checks.client(override_client, is_namespaced=namespace is not None))

    @classmethod
    def from_compute(
        cls,
        target: AttachedCompute,
        job_to_label_mapping: Mapping[str, Sequence[str] | str] | None = None,
        *args: Any,
        run_id: str | None = None,
        **options: Unpack[Options],
    ) -> KubernetesClusterResolver:
        """Return a resolver for the pods of an attached compute; sends nothing.

        The cluster is that of the caller's kube context or service account: no credentials are fetched from Azure, and
        whether it is the compute's cluster is not checked.

        Args:
            target: An attached `KubernetesCompute`, whose namespace is searched; ``default`` where it names none, as
                the service does.
            job_to_label_mapping: As for the class; with ``run_id``, the default is all pods of the run as ``worker``.
            *args: The class's further positional arguments.
            run_id: The Azure ML run whose pods are meant; adds ``ml.azure.com/run-id=RUN_ID`` to every selector. That
                label was seen on pods of the extension (version 1.1.6); Azure does not document it.
            **options: The class's further arguments, without ``namespace`` and ``literal``.

        Raises:
            TypeError: The target is no attached compute.
            ValueError: The run id cannot be a label's value.
        """
        if not isinstance(target, AttachedCompute) or not isinstance(target.namespace, str | None):
            raise TypeError(f"target must be an attached KubernetesCompute, not a {type(target).__name__}")
        jobs = jobs_of_run(job_to_label_mapping, run_id)
        return cls(jobs, *args, namespace=[target.namespace or "default"], **options)

    def cluster_spec(self) -> ClusterSpec:
        """Return the cluster as it is now, and fill in `task_type` and `task_id` if they can be told.

        It sends one request for each selector and namespace (one for each 500 pods), more where one is repeated after
        429, 5xx or a broken connection. A job without pods is empty, and a warning is logged.

        Raises:
            RuntimeError: A pod does not run, or has no address yet, or belongs to two jobs.
            KubernetesApiError: The API server refuses or cannot be reached; a RuntimeError with ``.status``.
        """
        if self._literal:
            return literal_spec(*self._literal, self._source)
        return self._membership.spec(self._members())

    def wait(self, counts: int | Mapping[str, int], timeout: float | None = None) -> ClusterSpec:
        """Wait until so many pods run and have an address, and return the cluster of those that do.

        Where further pods match that are not ready, the tasks keep the indices that they have with them. The cluster is
        watched, or listed every 1 to 10 s where the role lacks the verb ``watch`` or a client was given.

        Args:
            counts: How many of each job, or of the jobs named; jobs that are not named are not waited for.
            timeout: Seconds; None waits for ever, 0 looks once.

        Raises:
            PodCannotRunError: A pod of a job that misses some failed, cannot be scheduled, has no image or crashes
                again and again. A RuntimeError.
            WaitTimeoutError: The time is over; it says what was seen and what is missing. A TimeoutError and
                RuntimeError.
            KubernetesApiError: As for `cluster_spec`.
            TypeError: A count or the time-out is no number.
            ValueError: It is negative, a job is unknown or has no selectors, or the resolver is literal.
        """
        if self._literal:
            raise ValueError("a literal resolver cannot wait, as TensorFlow's cannot")
        wait = Wait(
            search=self._search(),
            membership=self._membership,
            source=self._source,
            counts=counts_by_job(counts, self._jobs),
            clock=self._clock,
            sleep=self._sleep,
        )
        members = wait.run(seconds(timeout))
        self._found = find_own_task(members, os.environ)
        return self._membership.spec(members)

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """Return a task's address with the RPC layer in front, for example ``grpc://10.0.0.7:8470``.

        Args:
            task_type: The job; default: this task's.
            task_id: The index; default: this task's.
            rpc_layer: Default, and for ``""``: the resolver's.

        Returns:
            ``""``, without a request, while the job or the index is not known; else what `cluster_spec` says.

        Raises:
            ValueError: There is no such job or task.
            RuntimeError: As for `cluster_spec`.
        """
        if self._meant(task_type, task_id) is None:
            return ""
        spec = self.cluster_spec()
        job, index = self._meant(task_type, task_id) or ("", 0)
        address = spec.task_address(job, index)
        layer = rpc_layer or self.rpc_layer
        return f"{layer}://{address}" if layer else address

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: object = None
    ) -> defaultdict[str, int]:
        """Return how many accelerators a task's pod may use, for example ``{"GPU": 2}``, from its containers' limits.

        TensorFlow's class counts the devices of the machine that asks, or opens a session to the task; this one opens
        none, so ``config_proto`` has no effect.

        Args:
            task_type: The job; default: this task's.
            task_id: The index; default: this task's.
            config_proto: Accepted and ignored.

        Returns:
            Counts by TensorFlow's device types, ``GPU`` and ``TPU``; empty, without a request, while the task is not
            known.

        Raises:
            ValueError: There is no such job or task.
            RuntimeError: As for `cluster_spec`.
        """
        if config_proto is not None:
            logger.info("num_accelerators ignores config_proto: no session is opened")
        if self._literal:
            self.master(task_type, task_id)
            return _tensorflow.count_devices_here(task_type, task_id)
        if self._meant(task_type, task_id) is None:
            return defaultdict(int)
        members = self._members()
        job, index = self._meant(task_type, task_id) or ("", 0)
        # For the errors: whether there is such a task. Addresses do not matter.
        ClusterSpec({name: dict.fromkeys(tasks, "") for name, tasks in members.items()}).task_address(job, index)
        return defaultdict(int, members[job][index].accelerators)

    def tf_config(self, spec: ClusterSpec | None = None) -> str:
        """Return the text for the environment variable ``TF_CONFIG``, which TensorFlow's TFConfigClusterResolver reads.

        Args:
            spec: The cluster; default: `cluster_spec`, which is asked for now.

        Raises:
            RuntimeError: It is not known which task this is, or as for `cluster_spec`.
        """
        spec = self.cluster_spec() if spec is None else spec
        job, index = self.task_type, self.task_id
        if job is None or index is None:
            raise RuntimeError(
                "it is not known which task this is: no pod of the cluster is this one; set task_type and task_id"
            )
        cluster = {name: tasks or [] for name, tasks in spec.as_dict().items()}
        layer = {"rpc_layer": self.rpc_layer} if self.rpc_layer else {}
        return json.dumps({"cluster": cluster, "task": {"type": job, "index": index}, **layer})

    @property
    def task_type(self) -> str | None:
        """The job of this task: what was set, else what `cluster_spec` or `wait` found. Reading it sends nothing."""
        if self._task_type is None and self._found and self._task_id in (None, self._found[1]):
            return self._found[0]
        return self._task_type

    @task_type.setter
    def task_type(self, task_type: str | None) -> None:
        self._task_type, self._found = task_type, None

    @property
    def task_id(self) -> int | None:
        """The index of this task: what was set, else what `cluster_spec` or `wait` found. Reading it sends nothing."""
        if self._task_id is None and self._found and self._task_type in (None, self._found[0]):
            return self._found[1]
        return self._task_id

    @task_id.setter
    def task_id(self, task_id: int | None) -> None:
        self._task_id, self._found = task_id, None

    def _meant(self, task_type: str | None, task_id: int | None) -> tuple[str, int] | None:
        job = self.task_type if task_type is None else task_type
        index = self.task_id if task_id is None else task_id
        return None if job is None or index is None else (job, index)

    def _search(self) -> Search:
        if self._namespaces is None:
            self._namespaces = checks.namespaces(self._source.own_namespace())
        return Search(self._jobs, self._namespaces)

    def _members(self) -> Members:
        search = self._search()
        members = self._membership.members(search.find(self._source).jobs)
        for job, tasks in members.items():
            if not tasks and self._jobs[job]:
                logger.warning("job %r has no task: no running pod matches %s", job, search.described(job))
        self._found = find_own_task(members, os.environ)
        return members


def _refuse_with_literal(**given: object) -> None:
    for argument, value in given.items():
        if value:
            raise ValueError(f"literal=True does as TensorFlow's class does, which has no argument {argument}")
