"""``python -m azureml_k8s``: the command line."""

import sys

from azureml_k8s.cli import main

if __name__ == "__main__":
    sys.exit(main())
