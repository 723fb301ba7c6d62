"""TensorFlow, and the workers that the tests start, are told to be quiet and to look for no GPU before they load."""

import os

os.environ.update(CUDA_VISIBLE_DEVICES="", TF_CPP_MIN_LOG_LEVEL="3")
