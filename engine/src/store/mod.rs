//! What is kept on disk: tasks, journals, projects and the workspace pool.
