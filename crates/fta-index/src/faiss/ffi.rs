//! [`Native`]: an index inside faiss. All `unsafe` code of this back end is here.
//!
//! faiss checks neither lengths nor values, so everything is checked before it is called. The safe crate offers no
//! search by several threads, forgets what filters it was given and keeps pointers to freed memory; the calls that
//! are affected go to the C interface. See `docs` of each function for what it rests on.

#![expect(unsafe_code, reason = "calls into C++; every block states why it is sound")]

use std::{
    cell::RefCell,
    ffi::{CStr, c_int, c_void},
    ptr::{self, NonNull},
};

use ::faiss::{
    Index as _, MetricType,
    index::{FromInnerPtr as _, IndexImpl, TryClone as _, autotune::ParameterSpace},
};
use faiss_sys as sys;

use super::{factory::Factory, rows::Mask};
use crate::error::IndexError;

unsafe extern "C" {
    fn omp_get_max_threads() -> c_int;
    fn omp_set_num_threads(threads: c_int);
}

/// An index of faiss for vectors of `dim` values, by inner product. Rows are numbered from 0 in the order in which
/// they were added.
pub(super) struct Native {
    index: IndexImpl,
    dim: usize,
    threads: usize,
    /// Whether it has lists.
    lists: bool,
}

/// What faiss found for some queries: `k` places each, best first, label -1 where there are fewer.
pub(super) struct Found {
    pub(super) k: usize,
    pub(super) scores: Vec<f32>,
    pub(super) labels: Vec<i64>,
}

impl Found {
    /// Scores and labels of each query.
    pub(super) fn queries(&self) -> impl Iterator<Item = (&[f32], &[i64])> {
        self.scores.chunks_exact(self.k).zip(self.labels.chunks_exact(self.k))
    }
}

/// Where a search looks.
#[derive(Clone, Copy, Default)]
pub(super) struct Scope<'a> {
    /// Only at these rows.
    pub(super) mask: Option<&'a Mask>,
    /// Lists to scan, of an index that has lists.
    pub(super) probes: usize,
}

impl Native {
    /// Makes an empty index. `factory` has a number of lists if it has lists.
    pub(super) fn new(dim: usize, factory: Factory, threads: usize) -> Result<Self, IndexError> {
        factory.check(dim)?;
        let Some(d) = u32::try_from(dim).ok().filter(|&d| d > 0 && d < 1 << 24) else {
            return Err(IndexError::Shape { dim, values: 0 });
        };
        let made = ::faiss::index_factory(d, factory.description(), MetricType::InnerProduct);
        let index = made.map_err(|error| failed("make an index", &error.to_string()))?;
        Ok(Self { index, dim, threads, lists: factory.lists().is_some() })
    }

    /// Values per row.
    pub(super) fn dim(&self) -> usize {
        self.dim
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.index.ntotal() as usize
    }

    /// Sets how many threads a call takes.
    pub(super) fn set_threads(&mut self, threads: usize) {
        self.threads = threads;
    }

    /// Sets a parameter of faiss. `&mut`, since faiss changes the index, which no search may see.
    pub(super) fn set(&mut self, name: &str, value: usize) -> Result<(), IndexError> {
        let space = ParameterSpace::new().map_err(|error| failed("set a parameter", &error.to_string()))?;
        let set = space.set_index_parameter(&self.index, name, value as f64);
        set.map_err(|error| failed("set a parameter", &error.to_string()))
    }

    /// Trains on rows, `[n, dim]`, finite.
    pub(super) fn train(&mut self, rows: &[f32]) -> Result<(), IndexError> {
        self.assert_rows(rows);
        let _threads = Threads::set(self.threads);
        self.index.train(rows).map_err(|error| failed("train", &error.to_string()))
    }

    /// Appends rows, `[n, dim]`, finite; the index is trained.
    pub(super) fn add(&mut self, rows: &[f32]) -> Result<(), IndexError> {
        self.assert_rows(rows);
        if rows.is_empty() {
            return Ok(());
        }
        let _threads = Threads::set(self.threads);
        self.index.add(rows).map_err(|error| failed("add vectors", &error.to_string()))
    }

    /// An index that is trained as this one, but empty.
    pub(super) fn emptied(&self) -> Result<Self, IndexError> {
        let mut index = self.index.try_clone().map_err(|error| failed("copy", &error.to_string()))?;
        index.reset().map_err(|error| failed("empty", &error.to_string()))?;
        Ok(Self { index, ..*self })
    }

    /// Writes rows `first..first + n` to `out`, `[n, dim]`, as faiss keeps them.
    pub(super) fn read_rows(&self, first: usize, n: usize, out: &mut [f32]) -> Result<(), IndexError> {
        assert!(
            first + n <= self.len() && out.len() == n * self.dim,
            "rows that are there, and room for them"
        );
        // From some rows on faiss shares the work.
        let _threads = (n > 1).then(|| Threads::set(self.threads));
        // SAFETY: the index is valid; the rows exist and `out` has room for them, as asserted; the call writes to
        // `out` alone.
        let code = unsafe {
            sys::faiss_Index_reconstruct_n(self.index.inner_ptr(), index(first), index(n), out.as_mut_ptr())
        };
        done(code, "read vectors")
    }

    /// The `k` nearest of each query, `[n, dim]` row-major, finite; `k` is at least 1 and at most [`Native::len`].
    ///
    /// Any number of threads may search at once, as the C++ is `const` and has no state of its own beside counters
    /// of statistics that nothing reads. One call takes one thread.
    pub(super) fn search(&self, queries: &[f32], k: usize, scope: Scope<'_>) -> Result<Found, IndexError> {
        self.assert_rows(queries);
        assert!(k > 0 && k <= self.len(), "places to fill, and no more than there are rows");
        let n = queries.len() / self.dim;
        let mut found = Found { k, scores: vec![f32::NEG_INFINITY; n * k], labels: vec![-1; n * k] };
        let parameters = self.parameters(scope)?;
        let _threads = Threads::set(1);
        // SAFETY: the index is valid and no one changes it while it is borrowed here; `queries` holds `n` vectors
        // and both outputs `n * k` places; `parameters` is null or valid, of the kind that this index takes, and
        // lives to the end of the function, as does the mask that it points to.
        let code = unsafe {
            sys::faiss_Index_search_with_params(
                self.index.inner_ptr(),
                index(n),
                queries.as_ptr(),
                index(k),
                parameters.as_ref().map_or(ptr::null(), |p| p.owned.as_ptr().cast_const()),
                found.scores.as_mut_ptr(),
                found.labels.as_mut_ptr(),
            )
        };
        done(code, "search")?;
        Ok(found)
    }

    fn parameters<'a>(&self, scope: Scope<'a>) -> Result<Option<Parameters<'a>>, IndexError> {
        let selector = scope.mask.map(Selector::new).transpose()?;
        if self.lists {
            return Parameters::of_lists(selector, scope.probes.max(1)).map(Some);
        }
        selector.map(Parameters::new).transpose()
    }

    /// Hands what faiss would write to a file to `take`, piece by piece, until that returns false.
    pub(super) fn write(&self, take: &mut dyn FnMut(&[u8]) -> bool) -> Result<(), IndexError> {
        let mut writer = ptr::null_mut();
        // SAFETY: `writer` is a place for the pointer; the function has the signature that is asked for.
        done(unsafe { sys::faiss_CustomIOWriter_new(&raw mut writer, Some(take_piece)) }, "write")?;
        // SAFETY: the pointer was just made and is freed by nobody else.
        let writer = unsafe { Owned::new(writer, |writer| sys::faiss_CustomIOWriter_free(writer), "write") }?;
        // SAFETY: only the lifetime changes; the guard takes the pointer back before this function ends.
        let take: &'static mut dyn FnMut(&[u8]) -> bool = unsafe { std::mem::transmute(take) };
        let _guard = TakeGuard::set(take);
        // SAFETY: index and writer are valid; a custom writer is a writer of faiss (it derives from it as its first
        // and only base, and the C interface casts the same way).
        let code =
            unsafe { sys::faiss_write_index_custom(self.index.inner_ptr(), writer.as_ptr().cast(), 0) };
        done(code, "write")
    }

    /// Reads what [`Native::write`] wrote. The bytes must be undamaged: faiss can crash on others, so a checksum
    /// must have been compared before.
    ///
    /// # Errors
    /// What is wrong with bytes that are of another kind, dimension or number of rows.
    pub(super) fn read(
        dim: usize,
        factory: Factory,
        threads: usize,
        bytes: Vec<u8>,
        n_rows: usize,
    ) -> Result<Self, String> {
        if !bytes.starts_with(factory.magic()) {
            return Err(format!("it holds no `{factory}` index"));
        }
        let reason = |error: IndexError| error.to_string();
        let mut reader = ptr::null_mut();
        // SAFETY: `reader` is a place for the pointer; the function has the signature that is asked for.
        done(unsafe { sys::faiss_CustomIOReader_new(&raw mut reader, Some(give_piece)) }, "read")
            .map_err(reason)?;
        // SAFETY: the pointer was just made and is freed by nobody else.
        let reader = unsafe { Owned::new(reader, |reader| sys::faiss_CustomIOReader_free(reader), "read") };
        let reader = reader.map_err(reason)?;
        let _guard = GiveGuard::set(bytes);
        let mut index = ptr::null_mut();
        // SAFETY: the reader is valid and a reader of faiss, as with the writer above; `index` is a place for the
        // pointer.
        let code = unsafe { sys::faiss_read_index_custom(reader.as_ptr().cast(), 0, &raw mut index) };
        done(code, "read").map_err(reason)?;
        if index.is_null() {
            return Err("faiss read no index".to_owned());
        }
        // SAFETY: faiss just made the index and gave it to us.
        let index = unsafe { IndexImpl::from_inner_ptr(index) };
        if GiveGuard::left() > 0 {
            return Err(format!("`{}` bytes are left over", GiveGuard::left()));
        }
        let native = Self { index, dim, threads, lists: factory.lists().is_some() };
        native.check(factory, n_rows)?;
        Ok(native)
    }

    fn check(&self, factory: Factory, n_rows: usize) -> Result<(), String> {
        let legal = self.index.d() as usize == self.dim
            && self.index.metric_type() == MetricType::InnerProduct
            && self.index.is_trained()
            && self.len() == n_rows;
        if !legal {
            return Err("what faiss read does not fit the header".to_owned());
        }
        // SAFETY: the index is valid; the cast is dynamic and gives null for another class.
        let lists = unsafe { sys::faiss_IndexIVF_cast(self.index.inner_ptr()) };
        let n_lists = if lists.is_null() {
            None
        } else {
            // SAFETY: it is an index with lists, as the cast found.
            Some(unsafe { sys::faiss_IndexIVF_nlist(lists) })
        };
        if n_lists != factory.lists().map(|n| n as usize) {
            return Err("it has another number of lists than its header says".to_owned());
        }
        Ok(())
    }

    fn assert_rows(&self, rows: &[f32]) {
        assert!(rows.len().is_multiple_of(self.dim), "whole rows, since faiss would cut the last");
    }
}

impl std::fmt::Debug for Native {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Native").field("dim", &self.dim).field("len", &self.len()).finish_non_exhaustive()
    }
}

/// A set of rows as faiss takes it. Borrows the mask, since faiss keeps a pointer to its bytes.
struct Selector<'a> {
    owned: Owned<sys::FaissIDSelectorBitmap>,
    _mask: &'a Mask,
}

impl<'a> Selector<'a> {
    fn new(mask: &'a Mask) -> Result<Self, IndexError> {
        let mut pointer = ptr::null_mut();
        let bits = mask.bits();
        // SAFETY: `pointer` is a place for the pointer; the bytes live as long as the selector, which borrows them.
        let code = unsafe { sys::faiss_IDSelectorBitmap_new(&raw mut pointer, bits.len(), bits.as_ptr()) };
        done(code, "filter")?;
        // SAFETY: the pointer was just made and is freed by nobody else.
        let owned = unsafe { Owned::new(pointer, |p| sys::faiss_IDSelectorBitmap_free(p), "filter") }?;
        Ok(Self { owned, _mask: mask })
    }
}

/// Parameters of one search, and the selector that they point to.
struct Parameters<'a> {
    owned: Owned<sys::FaissSearchParameters>,
    _selector: Option<Selector<'a>>,
}

impl<'a> Parameters<'a> {
    fn new(selector: Selector<'a>) -> Result<Self, IndexError> {
        let mut pointer = ptr::null_mut();
        // SAFETY: `pointer` is a place for the pointer; the selector is valid, derives from the class that is asked
        // for, and is kept beside the parameters.
        let code =
            unsafe { sys::faiss_SearchParameters_new(&raw mut pointer, selector.owned.as_ptr().cast()) };
        done(code, "filter")?;
        // SAFETY: the pointer was just made and is freed by nobody else; the parameters do not own the selector.
        let owned = unsafe { Owned::new(pointer, |p| sys::faiss_SearchParameters_free(p), "filter") }?;
        Ok(Self { owned, _selector: Some(selector) })
    }

    fn of_lists(selector: Option<Selector<'a>>, probes: usize) -> Result<Self, IndexError> {
        let mut pointer = ptr::null_mut();
        let raw = selector.as_ref().map_or(ptr::null_mut(), |selector| selector.owned.as_ptr().cast());
        // SAFETY: as in `new`; no selector is a null pointer, which means all rows.
        let code = unsafe { sys::faiss_SearchParametersIVF_new_with(&raw mut pointer, raw, probes, 0) };
        done(code, "filter")?;
        // SAFETY: as in `new`; the class of parameters for lists derives from the general one.
        let owned = unsafe { Owned::new(pointer, |p| sys::faiss_SearchParametersIVF_free(p), "filter") }?;
        Ok(Self { owned, _selector: selector })
    }
}

/// Something that faiss made and that must be freed.
struct Owned<T> {
    pointer: NonNull<T>,
    free: unsafe fn(*mut T),
}

impl<T> Owned<T> {
    /// # Safety
    /// `pointer` is null, or valid and for `free` to free once.
    unsafe fn new(pointer: *mut T, free: unsafe fn(*mut T), doing: &str) -> Result<Self, IndexError> {
        let pointer = NonNull::new(pointer).ok_or_else(|| failed(doing, ""))?;
        Ok(Self { pointer, free })
    }

    fn as_ptr(&self) -> *mut T {
        self.pointer.as_ptr()
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: as `new` demands.
        unsafe { (self.free)(self.pointer.as_ptr()) };
    }
}

/// Sets how many threads faiss and its BLAS use in calls by this thread; the number before comes back at the end.
struct Threads(c_int);

impl Threads {
    fn set(threads: usize) -> Self {
        // SAFETY: both functions of OpenMP read or write a variable of the calling thread.
        unsafe {
            let before = omp_get_max_threads();
            omp_set_num_threads(c_int::try_from(threads.max(1)).unwrap_or(c_int::MAX));
            Self(before)
        }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { omp_set_num_threads(self.0) };
    }
}

type Take = &'static mut dyn FnMut(&[u8]) -> bool;

thread_local! {
    // faiss calls back on the thread that called it, and its callbacks carry no data.
    static TAKE: RefCell<Option<Take>> = const { RefCell::new(None) };
    static GIVE: RefCell<(Vec<u8>, usize)> = const { RefCell::new((Vec::new(), 0)) };
}

struct TakeGuard;

impl TakeGuard {
    fn set(take: Take) -> Self {
        TAKE.set(Some(take));
        Self
    }
}

impl Drop for TakeGuard {
    fn drop(&mut self) {
        TAKE.set(None);
    }
}

struct GiveGuard;

impl GiveGuard {
    fn set(bytes: Vec<u8>) -> Self {
        GIVE.set((bytes, 0));
        Self
    }

    /// Bytes that were not read.
    fn left() -> usize {
        GIVE.with_borrow(|(bytes, at)| bytes.len() - at)
    }
}

impl Drop for GiveGuard {
    fn drop(&mut self) {
        GIVE.take();
    }
}

/// Called by faiss with `n` items of `size` bytes to write; returns how many were taken. A panic in it ends the
/// process, as in every function that C calls.
unsafe extern "C" fn take_piece(pointer: *const c_void, size: usize, n: usize) -> usize {
    let Some(length) = size.checked_mul(n).filter(|&length| length > 0) else { return n };
    // SAFETY: faiss gives `n` items of `size` bytes.
    let bytes = unsafe { std::slice::from_raw_parts(pointer.cast::<u8>(), length) };
    let taken = TAKE.with_borrow_mut(|take| take.as_mut().is_some_and(|take| take(bytes)));
    if taken { n } else { 0 }
}

/// Called by faiss with room for `n` items of `size` bytes; returns how many whole items it got.
unsafe extern "C" fn give_piece(pointer: *mut c_void, size: usize, n: usize) -> usize {
    if size == 0 {
        return n;
    }
    GIVE.with_borrow_mut(|(bytes, at)| {
        let n = n.min((bytes.len() - *at) / size);
        // SAFETY: `n * size` bytes are left in `bytes`, which the call before reduced `n` to, and faiss has room for
        // as many; its memory is not ours.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr().add(*at), pointer.cast::<u8>(), n * size) };
        *at += n * size;
        n
    })
}

/// A number as faiss counts.
fn index(n: usize) -> sys::idx_t {
    sys::idx_t::try_from(n).expect("no memory holds 2^63 rows")
}

/// The error of a call by its return code.
fn done(code: c_int, doing: &str) -> Result<(), IndexError> {
    if code == 0 {
        return Ok(());
    }
    // SAFETY: the pointer is null or a string that stays until the next call of faiss by this thread.
    let text = unsafe {
        let text = sys::faiss_get_last_error();
        if text.is_null() { String::new() } else { CStr::from_ptr(text).to_string_lossy().into_owned() }
    };
    Err(failed(doing, &text))
}

fn failed(doing: &str, text: &str) -> IndexError {
    IndexError::Faiss { doing: doing.to_owned(), reason: reason(text) }
}

/// What is left of a message of faiss without the function and the path of the source that it begins with.
fn reason(text: &str) -> String {
    let text = text.rsplit_once(".cpp:").or_else(|| text.rsplit_once(".h:")).map_or(text, |(_, rest)| rest);
    let text = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':' || c == ' ');
    let line = text.lines().next().unwrap_or_default().trim();
    if line.is_empty() || line.contains('/') { "it gave no reason".to_owned() } else { line.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_lose_their_paths() {
        let text = "Native faiss error: Error in virtual void faiss::X::train(idx_t, const float*) at \
                    /where/faiss/Clustering.cpp:275: Error: 'nx >= k' failed: Number of training points (1) too few";
        assert_eq!(reason(text), "Error: 'nx >= k' failed: Number of training points (1) too few");
        assert_eq!(reason("/some/path"), "it gave no reason");
        assert_eq!(reason(""), "it gave no reason");
    }

    #[test]
    fn errors_of_faiss_are_typed() {
        let factory = "IVF4,Flat".parse().expect("a legal factory");
        let mut native = Native::new(2, factory, 1).expect("a legal index");
        let error = native.train(&[1.0, 0.0]).expect_err("one vector for four lists");
        assert!(matches!(&error, IndexError::Faiss { .. }), "{error:?}");
        assert!(!error.to_string().contains('/'), "{error}");
        assert!(native.set("bogus", 1).is_err());
    }

    #[test]
    fn bytes_go_round_and_others_are_refused() {
        let factory = "HNSW8".parse().expect("a legal factory");
        let mut native = Native::new(2, factory, 1).expect("a legal index");
        native.add(&[1.0, 0.0, 0.0, 1.0]).expect("two vectors");
        let mut bytes = Vec::new();
        native
            .write(&mut |piece| {
                bytes.extend_from_slice(piece);
                true
            })
            .expect("writing");
        assert!(native.write(&mut |_| false).is_err());
        let again = Native::read(2, factory, 1, bytes.clone(), 2).expect("the same bytes");
        let found = again.search(&[0.6, 0.8], 2, Scope::default()).expect("a search");
        assert_eq!(found.labels, [1, 0]);
        assert!(Native::read(3, factory, 1, bytes.clone(), 2).is_err());
        assert!(Native::read(2, factory, 1, bytes.clone(), 3).is_err());
        assert!(Native::read(2, "Flat".parse().expect("legal"), 1, bytes.clone(), 2).is_err());
        assert!(Native::read(2, factory, 1, [&bytes[..], &[0]].concat(), 2).is_err());
        assert!(Native::read(2, factory, 1, bytes[..bytes.len() - 1].to_vec(), 2).is_err());
    }
}
