//! workflow!: a checked, typed state machine from a workflow file, at a call site.
