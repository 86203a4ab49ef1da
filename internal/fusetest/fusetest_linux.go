//go:build !macrules

package fusetest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// Request is what the kernel asks of a file system; see fuse(4) and linux/fuse.h.
type Request uint32

// Requests that Mount answers. Others end with ENOSYS.
const (
	Lookup  Request = 1
	GetAttr Request = 3
	Open    Request = 14
	Read    Request = 15
	Release Request = 18
	start   Request = 26
)

// File is the name of the only file.
const File = "file"

// Mount mounts a file system with one file, which is executable, until the test ends. Requests for which silent returns
// true get no answer. It skips the test where the system does not permit it.
func Mount(t *testing.T, content []byte, silent func(Request) bool) (dir string) {
	t.Helper()
	device, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skipf("FUSE is not available: %v", err)
	}
	dir = t.TempDir()
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=%d,group_id=%d", device, os.Getuid(), os.Getgid())
	if err := unix.Mount("fusetest", dir, "fuse", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		_ = unix.Close(device) // mounting is what failed
		t.Skipf("FUSE is not available: %v", err)
	}
	var served sync.WaitGroup
	served.Go(func() { serve(device, content, silent) })
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH|unix.MNT_FORCE); err != nil { // which ends calls that wait
			t.Error(err)
		}
		served.Wait()
		_ = unix.Close(device) // it was unmounted
	})
	return dir
}

// serve answers until the file system is unmounted.
func serve(device int, content []byte, silent func(Request) bool) {
	const head = 40 // of fuse_in_header
	buf := make([]byte, 1<<17)
	for {
		n, err := unix.Read(device, buf)
		if err == unix.EINTR || err == unix.ENOENT { // or the request was withdrawn
			continue
		}
		if err != nil || n < head {
			return
		}
		request := Request(binary.NativeEndian.Uint32(buf[4:]))
		if request != start && silent(request) {
			continue
		}
		body, failure := answer(request, buf[head:n], binary.NativeEndian.Uint64(buf[16:]), content)
		reply := binary.NativeEndian.AppendUint32(nil, uint32(16+len(body)))
		reply = binary.NativeEndian.AppendUint32(reply, uint32(-int32(failure)))
		reply = append(append(reply, buf[8:16]...), body...)
		_, _ = unix.Write(device, reply) // fails if the request was withdrawn
	}
}

// The numbers of the folder and of the file.
const (
	folderID = 1
	fileID   = 2
)

// answer makes the body of an answer.
func answer(request Request, args []byte, id uint64, content []byte) (body []byte, failure unix.Errno) {
	const major, minor, write = 7, 31, 4096
	switch request {
	case start: // fuse_init_out
		body = make([]byte, 64)
		binary.NativeEndian.PutUint32(body, major)
		binary.NativeEndian.PutUint32(body[4:], minor)
		binary.NativeEndian.PutUint32(body[20:], write)
	case Lookup: // fuse_entry_out, whose attributes are valid for no time
		if name, _, _ := bytes.Cut(args, []byte{0}); string(name) != File {
			return nil, unix.ENOENT
		}
		entry := make([]byte, 40)
		binary.NativeEndian.PutUint64(entry, fileID)
		body = slices.Concat(entry, attributes(fileID, content))
	case GetAttr: // fuse_attr_out
		body = append(make([]byte, 16), attributes(id, content)...)
	case Open: // fuse_open_out
		body = make([]byte, 16)
	case Read: // fuse_read_in
		from := min(binary.NativeEndian.Uint64(args[8:]), uint64(len(content)))
		to := min(from+uint64(binary.NativeEndian.Uint32(args[16:])), uint64(len(content)))
		body = content[from:to]
	case Release:
	default:
		return nil, unix.ENOSYS
	}
	return body, 0
}

// attributes is a fuse_attr.
func attributes(id uint64, content []byte) []byte {
	a := make([]byte, 88)
	mode, links := uint32(unix.S_IFREG|0o755), uint32(1)
	if id == folderID {
		mode, links, content = unix.S_IFDIR|0o755, 2, nil
	}
	binary.NativeEndian.PutUint64(a, id)
	binary.NativeEndian.PutUint64(a[8:], uint64(len(content)))
	binary.NativeEndian.PutUint32(a[60:], mode)
	binary.NativeEndian.PutUint32(a[64:], links)
	binary.NativeEndian.PutUint32(a[68:], uint32(os.Getuid()))
	binary.NativeEndian.PutUint32(a[72:], uint32(os.Getgid()))
	return a
}
