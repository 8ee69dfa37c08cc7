//! Kernel stamps of arriving segments (`SO_TIMESTAMPNS`), and the count of segments out of order.

use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use syscalls::{Sysno, syscall};
use truetail_model::time::NANOS_PER_SECOND;

use crate::clock::WallTime;

/// True if the kernel can stamp arrivals.
pub const ARE_AVAILABLE: bool = true;

/// Room for one control message with stamps, with the alignment of its header.
#[repr(C)]
union ControlBuffer {
    _align: libc::cmsghdr,
    bytes: [u8; 64],
}

/// Switches stamping on until the returned socket is dropped. The kernel begins to stamp a moment after the first
/// socket of the whole system asks for it. Without this call the first answers of a run would have no stamp.
pub fn switch_on() -> Option<OwnedFd> {
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None).ok()?;
    enable(socket.as_fd()).ok()?;
    Some(socket)
}

/// Asks the kernel to stamp what `socket` receives.
///
/// # Errors
/// If the system does not support it.
pub fn enable(socket: BorrowedFd<'_>) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: the descriptor is open while it is borrowed, and the kernel reads exactly the bytes of `on`, which has
    // the type that this option takes.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPNS,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Reads once. Returns the number of bytes, and the stamp of the last segment that was read, if there is one.
#[inline(always)]
pub fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<(usize, Option<WallTime>)> {
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let mut control = MaybeUninit::<ControlBuffer>::uninit();
    // SAFETY: a `msghdr` of zeros is valid: null pointers with zero lengths.
    let mut message: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of::<ControlBuffer>() as _;
    // SAFETY: `message` points to one part, which is `buffer`, borrowed for writing, and to a control buffer of the
    // stated length. Both outlive the call, and the kernel writes within the lengths.
    let n = unsafe { syscall!(Sysno::recvmsg, socket.as_raw_fd(), &raw mut message, 0) };
    let n = n.map_err(|error| io::Error::from_raw_os_error(error.into_raw()))?;
    // SAFETY: `message` was filled by a successful `recvmsg`, and its control buffer is still alive.
    let stamp = unsafe { stamp_of(&message) };
    Ok((n, stamp))
}

/// Returns the stamp in the control messages.
///
/// # Safety
/// `message` must have been filled by a successful `recvmsg`, and its control buffer must still be alive.
#[inline(always)]
unsafe fn stamp_of(message: &libc::msghdr) -> Option<WallTime> {
    // SAFETY: by the contract, the control part of `message` is valid, which is all that these macros require, and each
    // header that they return lies within it. The payload is read without alignment, and only if the header says that
    // it has the length of the type that is read.
    unsafe {
        let mut header = libc::CMSG_FIRSTHDR(message);
        while let Some(control) = header.as_ref() {
            let whole = control.cmsg_len >= libc::CMSG_LEN(size_of::<libc::timespec>() as u32) as _;
            if control.cmsg_level == libc::SOL_SOCKET && control.cmsg_type == libc::SCM_TIMESTAMPNS && whole {
                return wall_time(libc::CMSG_DATA(header).cast::<libc::timespec>().read_unaligned());
            }
            header = libc::CMSG_NXTHDR(message, header);
        }
    }
    None
}

/// Returns how many segments on this connection arrived before an earlier one; `None`: the system does not tell.
pub fn out_of_order(socket: BorrowedFd<'_>) -> Option<u32> {
    /// Index of `tcpi_rcv_ooopack` in `struct tcp_info`, in 32-bit words (Linux 5.4 and later).
    const OUT_OF_ORDER: usize = 56;
    let mut info = [0u32; OUT_OF_ORDER + 1];
    let mut length = size_of_val(&info) as libc::socklen_t;
    // SAFETY: the descriptor is open while it is borrowed. The kernel writes at most `length` bytes to `info`, which
    // has that size, and any bytes are valid there.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    (result == 0 && length as usize == size_of_val(&info)).then_some(info[OUT_OF_ORDER])
}

/// Converts a stamp. Zero means no stamp, as on the first segments after stamping was switched on.
fn wall_time(t: libc::timespec) -> Option<WallTime> {
    let seconds = u64::try_from(t.tv_sec).ok()?;
    let nanos = u64::try_from(t.tv_nsec).ok()?;
    (seconds > 0).then(|| WallTime(seconds * NANOS_PER_SECOND + nanos))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};

    use super::*;
    use crate::unix_ns;

    #[test]
    fn a_segment_is_stamped_on_arrival_and_not_when_read() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut far, _) = listener.accept().unwrap();
        enable(near.as_fd()).unwrap();
        let mut buffer = [0; 16];
        // The kernel switches stamping on a moment after it was asked, so the first segments may have no stamp.
        for _ in 0..1000 {
            let before = unix_ns();
            far.write_all(b"x").unwrap();
            let sent = unix_ns();
            std::thread::sleep(std::time::Duration::from_millis(20));
            let (n, stamp) = receive(near.as_fd(), &mut buffer).unwrap();
            assert_eq!(n, 1);
            assert_eq!(out_of_order(near.as_fd()), Some(0));
            if let Some(arrived) = stamp {
                assert!(before <= arrived.0, "{arrived:?} is before the write began, at {before}");
                assert!(arrived.0 <= sent + 50_000, "on loopback it arrives inside the write");
                return;
            }
        }
        panic!("no segment in a thousand was stamped");
    }
}
