//! `ByIndex`: a list whose places are named by a type of its own, so that a node's number can't be taken for an edge's.

use std::{
    marker::PhantomData,
    ops::{Deref, DerefMut, Index, IndexMut},
};

pub(super) trait NumberedPlace {
    fn at(self) -> usize;
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct ByIndex<I, T>(Vec<T>, PhantomData<I>);

impl<I: NumberedPlace, T> ByIndex<I, T> {
    /// Those from a place on.
    pub fn from(&self, first: I) -> &[T] {
        self.0.get(first.at()..).unwrap_or_default()
    }

    pub fn slot(&self, slot: I) -> Option<&T> {
        self.0.get(slot.at())
    }

    pub fn slot_mut(&mut self, slot: I) -> Option<&mut T> {
        self.0.get_mut(slot.at())
    }
}

impl<I, T> Default for ByIndex<I, T> {
    fn default() -> Self {
        Self(Vec::new(), PhantomData)
    }
}

impl<I: NumberedPlace, T> Index<I> for ByIndex<I, T> {
    type Output = T;

    fn index(&self, slot: I) -> &T {
        &self.0[slot.at()]
    }
}

impl<I: NumberedPlace, T> IndexMut<I> for ByIndex<I, T> {
    fn index_mut(&mut self, slot: I) -> &mut T {
        &mut self.0[slot.at()]
    }
}

impl<I, T> Deref for ByIndex<I, T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<I, T> DerefMut for ByIndex<I, T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}

impl<'a, I, T> IntoIterator for &'a ByIndex<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}
