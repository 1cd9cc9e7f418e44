//! Packets: how data crosses a socket. Four bytes say how many bytes of JSON follow. A packet that is larger than its reader takes is refused
//! before anything of it is kept, and what is kept grows only with what really comes.

use serde::Serialize;
use std::io::{self, ErrorKind};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// The largest packet of a client: a plan of 100,000 nodes fits.
pub(super) const LARGEST_REQUEST: u32 = 128 << 20;

/// The largest packet of a host: a run with all its events fits.
pub(super) const LARGEST_NOTICE: u32 = 1 << 30;

/// Why no packet could be read or written.
#[derive(Debug, thiserror::Error)]
pub enum PacketError {
    #[error("the connection ended in the middle of a message")]
    Half,
    #[error("a message of {0} bytes is larger than the {1} bytes that are taken")]
    Giant(u64, u32),
    #[error("a message can't be read: {0}")]
    Strange(#[from] serde_json::Error),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The bytes of the next packet; `None` where the other side ended. It must not be dropped halfway if more is to be read.
pub(super) async fn read(from: &mut (impl AsyncRead + Unpin), largest: u32) -> Result<Option<Vec<u8>>, PacketError> {
    let mut length = [0; 4];
    match from.read(&mut length).await? {
        0 => return Ok(None),
        read => from.read_exact(&mut length[read..]).await.map_err(half)?,
    };
    let length = u32::from_be_bytes(length);
    if length > largest {
        return Err(PacketError::Giant(length.into(), largest));
    }
    let mut bytes = Vec::new();
    from.take(length.into()).read_to_end(&mut bytes).await?;
    if bytes.len() as u64 == u64::from(length) { Ok(Some(bytes)) } else { Err(PacketError::Half) }
}

/// Writes one packet, in one piece.
pub(super) async fn write(to: &mut (impl AsyncWrite + Unpin), data: &impl Serialize, largest: u32) -> Result<(), PacketError> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, data)?;
    let length = bytes.len() as u64 - 4;
    let fits = u32::try_from(length).ok().filter(|length| *length <= largest);
    let Some(fits) = fits else { return Err(PacketError::Giant(length, largest)) };
    bytes[..4].copy_from_slice(&fits.to_be_bytes());
    Ok(to.write_all(&bytes).await?)
}

fn half(error: io::Error) -> PacketError {
    if error.kind() == ErrorKind::UnexpectedEof { PacketError::Half } else { PacketError::Io(error) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    async fn read_all(mut bytes: &[u8], largest: u32) -> Result<Vec<Value>, PacketError> {
        let mut packets = Vec::new();
        while let Some(packet) = read(&mut bytes, largest).await? {
            packets.push(serde_json::from_slice(&packet)?);
        }
        Ok(packets)
    }

    #[tokio::test]
    async fn what_is_written_is_read_packet_by_packet() {
        let mut bytes = Vec::new();
        for data in [json!({"a": [1, "zwei"]}), json!(null), json!("x".repeat(100_000))] {
            write(&mut bytes, &data, LARGEST_REQUEST).await.unwrap();
        }
        let packets = read_all(&bytes, LARGEST_REQUEST).await.unwrap();
        assert_eq!(packets.len(), 3);
        assert_eq!(packets[0], json!({"a": [1, "zwei"]}));
    }

    #[tokio::test]
    async fn half_giant_and_strange_packets_are_told_apart() {
        let mut bytes = Vec::new();
        write(&mut bytes, &json!("four"), LARGEST_REQUEST).await.unwrap();
        for cut in 1..bytes.len() {
            assert!(matches!(read_all(&bytes[..cut], LARGEST_REQUEST).await, Err(PacketError::Half)), "{cut}");
        }
        assert!(matches!(read_all(&bytes, 5).await, Err(PacketError::Giant(6, 5))));
        assert!(matches!(write(&mut Vec::new(), &json!("four"), 5).await, Err(PacketError::Giant(6, 5))));
        assert!(matches!(read_all(&u32::MAX.to_be_bytes(), LARGEST_NOTICE).await, Err(PacketError::Giant(..))));
        assert!(matches!(read_all(b"\0\0\0\x02{]", LARGEST_REQUEST).await, Err(PacketError::Strange(_))));
    }
}
