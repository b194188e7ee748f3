//! The thread that a model works on.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread::JoinHandle,
};

use tokio::sync::{mpsc::UnboundedSender, oneshot};

use super::generate::{Caller, Generator};
use crate::{
    error::ModelError,
    model::{ChatReply, ChatRequest},
};

/// A request on its way to the thread.
pub(super) struct Job {
    pub(super) request: ChatRequest,
    /// Closed when the caller has gone away.
    pub(super) reply: oneshot::Sender<Result<ChatReply, ModelError>>,
    /// Takes the text as it comes, if the caller wants it so.
    pub(super) pieces: Option<UnboundedSender<String>>,
}

/// A thread that answers jobs in the order in which they come.
#[derive(Debug)]
pub(super) struct Worker {
    jobs: Option<mpsc::Sender<Job>>,
    is_closing: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    /// # Errors
    /// What the system says if it has no thread to give.
    pub(super) fn start(mut generator: Generator) -> std::io::Result<Self> {
        let (sender, receiver) = mpsc::channel::<Job>();
        let is_closing = Arc::new(AtomicBool::new(false));
        let closing = Arc::clone(&is_closing);
        let work = move || {
            for job in receiver {
                let Job { request, reply, pieces } = job;
                let is_gone = || reply.is_closed() || closing.load(Ordering::Relaxed);
                let mut on_text = |text: &str| {
                    if let Some(pieces) = &pieces {
                        // A caller that listens no more is found out by `is_gone`.
                        let _ = pieces.send(text.to_owned());
                    }
                };
                if !is_gone() {
                    let mut caller = Caller { is_gone: &is_gone, on_text: &mut on_text };
                    let outcome = generator.reply(&request, &mut caller);
                    let _ = reply.send(outcome);
                }
            }
        };
        let thread = std::thread::Builder::new().name("gguf model".to_owned()).spawn(work)?;
        Ok(Self { jobs: Some(sender), is_closing, thread: Some(thread) })
    }

    /// Puts a job in the queue.
    ///
    /// # Errors
    /// [`ModelError::Permanent`] if the thread has ended.
    pub(super) fn send(&self, job: Job) -> Result<(), ModelError> {
        let is_sent = self.jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_ok());
        if is_sent { Ok(()) } else { Err(ended()) }
    }
}

/// The thread is gone, which only a fault of the program explains.
pub(super) fn ended() -> ModelError {
    ModelError::Permanent { message: "the thread of the model has ended".to_owned() }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.is_closing.store(true, Ordering::Relaxed);
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was told to the callers that waited.
            let _ = thread.join();
        }
    }
}
