//! Tools that ask their client.
