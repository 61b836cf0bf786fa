//! Exit rules: what becomes of a task whose agent has died.

super::lints! {}
