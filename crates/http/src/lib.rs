//! The HTTP interface: routes, handlers, errors, streams and the OpenAPI document.
