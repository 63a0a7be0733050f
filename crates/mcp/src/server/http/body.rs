//! Bodies of requests: no longer, and no slower, than they may be.

use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::StatusCode;
use hyper::body::{Body, Bytes};

use super::super::load::{FULL, Room};

/// Why a body was not read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BodyError {
    TooLong,
    TooSlow,
    TooMuch,
    Broke,
}

impl BodyError {
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::TooLong => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::TooMuch => StatusCode::SERVICE_UNAVAILABLE,
            Self::Broke => StatusCode::BAD_REQUEST,
        }
    }

    pub(super) fn words(&self) -> &'static str {
        match self {
            Self::TooLong => "the request is too long",
            Self::TooSlow => "the request took too long to come in",
            Self::TooMuch => FULL,
            Self::Broke => "the request broke off",
        }
    }
}

/// All of a body, within a limit and a time. What came counts, not what may still come.
pub(super) async fn read<B>(
    body: B,
    longest: usize,
    within: Duration,
    room: &Room,
) -> Result<Bytes, BodyError>
where
    B: Body<Data = Bytes>,
{
    // What says that it is too long is not read at all.
    if usize::try_from(body.size_hint().lower()).is_ok_and(|least| least > longest) {
        return Err(BodyError::TooLong);
    }
    let reading = async {
        let mut body = std::pin::pin!(body);
        let mut whole = Vec::new();
        while let Some(frame) = body.frame().await {
            let Ok(piece) = frame.map_err(|_| BodyError::Broke)?.into_data() else { continue };
            if whole.len() + piece.len() > longest {
                return Err(BodyError::TooLong);
            }
            if !room.grow(piece.len()) {
                return Err(BodyError::TooMuch);
            }
            whole.extend_from_slice(&piece);
        }
        Ok(Bytes::from(whole))
    };
    tokio::time::timeout(within, reading).await.unwrap_or(Err(BodyError::TooSlow))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Arc;

    use futures_util::{Stream, StreamExt as _, stream};
    use http_body_util::{Full, StreamBody};
    use hyper::body::Frame;

    use super::super::super::load::Load;
    use super::*;

    const SOON: Duration = Duration::from_millis(50);

    fn pieces(count: usize) -> impl Stream<Item = Result<Frame<Bytes>, Infallible>> {
        stream::repeat_with(|| Ok(Frame::data(Bytes::from_static(b"1234")))).take(count)
    }

    fn room() -> Arc<Room> {
        Arc::new(Load::default()).take(0).unwrap()
    }

    async fn read_pieces(count: usize, longest: usize) -> Result<Bytes, BodyError> {
        read(StreamBody::new(pieces(count)), longest, SOON, &room()).await
    }

    #[tokio::test]
    async fn a_body_is_read_within_its_limits() {
        assert_eq!(read_pieces(2, 8).await.unwrap(), "12341234");
        assert_eq!(read_pieces(3, 8).await.unwrap_err(), BodyError::TooLong);
        assert_eq!(read_pieces(1_000_000_000, 8).await.unwrap_err(), BodyError::TooLong);
        let long = Full::new(Bytes::from_static(b"1234567890"));
        assert_eq!(read(long, 8, SOON, &room()).await.unwrap_err(), BodyError::TooLong);
    }

    #[tokio::test]
    async fn a_body_that_never_ends_is_given_up() {
        let slow = StreamBody::new(pieces(1).chain(stream::pending()));
        assert_eq!(read(slow, 8, SOON, &room()).await.unwrap_err(), BodyError::TooSlow);
    }

    #[tokio::test]
    async fn bodies_share_what_room_there_is() {
        let load = Arc::new(Load::default());
        let others = load.take(64 * 1024 * 1024 - 4).unwrap();
        let room = load.take(0).unwrap();
        let two = read(StreamBody::new(pieces(2)), 8, SOON, &room).await;
        assert_eq!(two.unwrap_err(), BodyError::TooMuch);
        drop(others);
        assert!(read(StreamBody::new(pieces(2)), 8, SOON, &room).await.is_ok());
    }
}
