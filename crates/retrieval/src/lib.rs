//! One small full-text index per agent, kept in step with the rows by number.
