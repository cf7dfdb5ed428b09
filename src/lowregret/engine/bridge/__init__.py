"""What knows Numba: types, registration, identity of code, machine code on disk and errors."""
