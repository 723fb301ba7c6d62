"""What `import azureml_k8s`, and a first use of it, cost against a bare interpreter and against `import requests`.

Ratios of medians of interleaved runs of new processes, so that a busy machine slows all alike.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

RUNS = 11
CASES = {
    "bare interpreter": "pass",
    "import azureml_k8s": "import azureml_k8s",
    "import azureml_k8s, ComputeTarget loaded": "from azureml_k8s import ComputeTarget, Workspace",
    "import requests": "import requests",
    "import azure.identity": "import azure.identity",
}


def seconds(code: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - start


def main() -> None:
    for code in CASES.values():
        seconds(code)  # bytecode written, files in the page cache
    times: dict[str, list[float]] = {name: [] for name in CASES}
    for _ in range(RUNS):
        for name, code in CASES.items():
            times[name].append(seconds(code))
    floor = statistics.median(times["bare interpreter"])
    for name, values in times.items():
        median = statistics.median(values)
        print(f"{name:45} {median * 1000:7.1f} ms  {median / floor:6.2f} x the bare interpreter")


if __name__ == "__main__":
    main()
