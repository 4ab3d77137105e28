//! Turns a handler's panic into a fault of its request.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use base::Fault;

pub(super) async fn catch_panic<T>(work: impl Future<Output = T>) -> Result<T, Fault> {
    let mut work = pin!(work);
    std::future::poll_fn(move |context| {
        let polled = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context)));
        match polled {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(done)) => Poll::Ready(Ok(done)),
            Err(panic) => Poll::Ready(Err(panic_fault(&*panic))),
        }
    })
    .await
}

fn panic_fault(panic: &(dyn Any + Send)) -> Fault {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    Fault::new(format!("a handler panicked: {}", text.unwrap_or("no message")))
}
