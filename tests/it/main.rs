//! Tests of the whole program: one binary, one module a subject.

mod house;
mod sandbox;
