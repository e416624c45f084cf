//! Drivers that the tests, benchmarks and crash runs share.
