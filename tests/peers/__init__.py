"""The official SDKs, unmodified, against the emulator; run.py makes their environments and runs the checks."""
