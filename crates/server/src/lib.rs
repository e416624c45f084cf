//! The program cicerone: configuration, wiring, telemetry and subcommands.
