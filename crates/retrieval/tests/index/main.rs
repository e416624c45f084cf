//! The index through its port, over a scripted feed.

mod answers;
mod consistency;
mod feed;
mod hostile;
mod repair;
mod resources;
