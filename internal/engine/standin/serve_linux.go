//go:build cgo

package standin

// serving is the server for the framework: it lets no panic cross into C.
type serving struct{ *server }

// Compile implements entry.Server.
func (s serving) Compile(directory string) (program uint64, kind int32, fault string) {
	defer logPanic("compile", func() { kind, fault = invalidText, "the compiler panicked; see the log for the stack" })
	program, err := s.compile(directory)
	if err != nil {
		kind, fault = kindOf(err), faults(err)
	}
	return program, kind, fault
}

// Attributes implements entry.Server.
func (s serving) Attributes(program uint64) (plist []byte) {
	defer logPanic("attributes", func() { plist = nil })
	return s.attributes(program)
}

// Evaluate implements entry.Server.
func (s serving) Evaluate(program uint64, procedure uint32, request uint64, in, out []uint32) uint32 {
	return uint32(s.evaluate(program, procedure, request, in, out))
}

// DropRequest implements entry.Server.
func (s serving) DropRequest(request uint64) {
	defer logPanic("drop request", func() {})
	s.dropRequest(request)
}

// DropProgram implements entry.Server.
func (s serving) DropProgram(program uint64) {
	defer logPanic("drop program", func() {})
	s.dropProgram(program)
}
