//! Prompts: whether they ask for what the workflow then wants.

super::lints! {}
