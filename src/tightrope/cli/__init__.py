"""The command line door: small shells over the public functions."""
