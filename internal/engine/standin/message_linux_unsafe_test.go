//go:build linux && cgo

package standin

import (
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
	"github.com/stretchr/testify/require"
)

// messages sends messages directly to the framework's classes, without the bridge.
type messages struct {
	t                       *testing.T
	class, selector, lookup uintptr
}

func newMessages(t *testing.T) *messages {
	lib, err := purego.Dlopen("libobjc.so.4", purego.RTLD_NOW|purego.RTLD_GLOBAL)
	require.NoError(t, err)
	m := &messages{t: t}
	for name, to := range map[string]*uintptr{"objc_getClass": &m.class, "sel_registerName": &m.selector,
		"objc_msg_lookup": &m.lookup} {
		*to, err = purego.Dlsym(lib, name)
		require.NoError(t, err)
	}
	return m
}

// named returns the class of a name.
func (m *messages) named(name string) uintptr {
	c, _, _ := purego.SyscallN(m.class, uintptr(unsafe.Pointer(unsafe.StringData(name+"\x00"))))
	require.NotZero(m.t, c, name)
	return c
}

// selectorOf returns the SEL of a name.
func (m *messages) selectorOf(name string) uintptr {
	sel, _, _ := purego.SyscallN(m.selector, uintptr(unsafe.Pointer(unsafe.StringData(name+"\x00"))))
	return sel
}

// send sends a message and returns its result, an object or a number.
func (m *messages) send(to uintptr, selector string, args ...uintptr) uintptr {
	sel := m.selectorOf(selector)
	method, _, _ := purego.SyscallN(m.lookup, to, sel)
	require.NotZero(m.t, method)
	r, _, _ := purego.SyscallN(method, append([]uintptr{to, sel}, args...)...)
	return r
}

// string returns the text of an NSString.
func (m *messages) string(object uintptr) string {
	if object == 0 {
		return ""
	}
	at := m.send(object, "UTF8String")
	n := 0
	for *(*byte)(unsafe.Add(*(*unsafe.Pointer)(unsafe.Pointer(&at)), n)) != 0 {
		n++
	}
	return string(bytesAt(at, n))
}

// refused sends a message whose last argument is an NSError ** and returns the error's
// code and text.
func (m *messages) refused(to uintptr, selector string, args ...uintptr) (code int64, message string) {
	failure := new(uintptr)
	ok := m.send(to, selector, append(args, uintptr(unsafe.Pointer(failure)))...)
	require.Zero(m.t, ok&0xff, selector)
	return int64(m.send(*failure, "code")), m.string(m.send(*failure, "localizedDescription"))
}
