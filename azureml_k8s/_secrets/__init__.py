"""Keep secrets out of everything that people or log files get to see.

JSON is masked by the names of its keys (`mask_json`), free text by its patterns (`mask_text`), errors by copying them
(`masked_copy`), log records by a filter (`get_logger`, `mask_log_records_of`). All of it is idempotent, takes time
linear in its input and raises nothing.
"""

from azureml_k8s._secrets._errors import masked_copy
from azureml_k8s._secrets._json import mask_json
from azureml_k8s._secrets._logs import MaskingFilter, get_logger, mask_log_records_of
from azureml_k8s._secrets._names import MASK, SecretText, is_secret_name
from azureml_k8s._secrets._text import mask_text

__all__ = [
    "MASK",
    "MaskingFilter",
    "SecretText",
    "get_logger",
    "is_secret_name",
    "mask_json",
    "mask_log_records_of",
    "mask_text",
    "masked_copy",
]
