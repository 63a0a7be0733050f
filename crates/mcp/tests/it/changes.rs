//! Clients are told when what is offered is something else.
