//! The vocabulary of Orange and every decision: tables, guards, gates, sections. No I/O, no dependencies.
#![no_std]
