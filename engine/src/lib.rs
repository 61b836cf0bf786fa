//! The runtime that every generated orange binary links: store, journal, hooks, drivers, commands.
