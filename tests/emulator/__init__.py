"""Tests of the emulated service by itself, without the client."""
