package coreml_test

import (
	"errors"
	"testing"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/coreml"
)

// FuzzRead reads any bytes. What is read has a text that parses to the same tree, and a description of its functions;
// what is refused is a typed error.
func FuzzRead(f *testing.F) {
	for _, p := range pairs {
		f.Add(p.model)
	}
	f.Add(detector())
	f.Add(relu(7, described()...))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := coreml.Read(data)
		if err != nil {
			e, ok := errors.AsType[*coreml.Error](err)
			if !ok || e.Msg == "" || e.Err == nil || e.Offset > int64(len(data)) {
				t.Fatalf("%#v", err)
			}
			return
		}
		check(t, m)
	})
}

func check(t *testing.T, m *coreml.Model) {
	m.Shapes()
	for _, p := range m.Parts() {
		check(t, p)
	}
	if m.Tree() == nil || len(m.Parts()) > 0 {
		return
	}
	if m.Description.Function("") == nil {
		t.Fatalf("no function called %q", m.Description.Default)
	}
	text := mil.Print(m.Tree())
	again, err := mil.Parse("", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if !mil.Equal(m.Tree(), again) {
		t.Fatalf("another tree:\n%s\n%s", text, mil.Print(again))
	}
}
