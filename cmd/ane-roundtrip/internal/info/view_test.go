package info

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/doc"
)

// object is what info has found on a machine with a framework, with the dump of a page.
const object = `{"command":"info","verdict":"pass","engine":{"name":"apple","chip":"h13g","os_build":"26A1"},"host":{"os":
"darwin","arch":"arm64","cpus":8,"page_bytes":16384,"memory":"IOSurface","pinning":"unknown","fp16":"neon","go":"go1",
"version":"devel"},"details":{"engines":[{"name":"apple","available":true,"what":"w"},{"name":"soft","available":false,
"what":"v","reason":"r\u001b"}],"frameworks":[{"engine":"apple","library":"","framework":"/f","warnings":["careful"],
"checks":[{"class":"_C","selector":"go:","class_method":true,"expected":"@","found":"@","needed_for":"n","required":true,
"status":"ok"},{"class":"_D","selector":"stop","expected":"@","found":"","needed_for":"m","status":"missing"}],"device":
{"has_ane":true,"virtual_machine":null,"engines":1,"cores":-1,"board":192,"architecture":"h13g","product":"","build":
"26A1"},"registry":[],"registry_error":"denied","usage":{"compiles":2,"loaded":1,"program_limit":100}}],"operators":
["add","sub"]},"dump":{"source":"s","chip":"c","data":{"known":{"opset":"ios18"},"self_check":[{"selector":"again"}],
"list":[1,null,"x",true],"round_trip":[{"name":"add","compile_ns":1500,"load_ns":20,"evaluate_p50_ns":1162,
"evaluate_p99_ns":9999,"max_error":null,"bytes_copied":0,"latency":{"edges_ns":[100,200,400],"counts":[3,1]}}]}}}`

func TestViewOnATerminal(t *testing.T) {
	t.Setenv("COLUMNS", "")
	var out bytes.Buffer
	require.NoError(t, doc.Terminal(&out, []byte(object), View("auto", nil)))
	for _, line := range []string{`anekit  devel, go1\n`, `host    darwin/arm64, 8 CPUs, 16384-byte pages\n`,
		`auto    apple: h13g, 26A1\n\n`, `apple   yes        w\n`, `soft    no         v     r\\x1b\n`,
		`bridge              part of this binary\n`, `hasANE              yes\n`,
		`engines, cores      1, not reported\n`, `system              not reported, build 26A1\n`,
		`virtual machine     unknown\n`, `warning             careful\n`, `compiles            2 in this process\n`,
		`loaded              1 of 100 programs\n`, `DeviceProperties    not readable: denied\n\n`,
		`\+\[_C go:\] +ok +@ +@ +n\n`,
		`-\[_D stop\] +missing \(optional\) +@ +- +m\n$`} {
		require.Regexp(t, line, out.String())
	}
	out.Reset()
	require.NoError(t, doc.Terminal(&out, []byte(object), View("auto", errors.New("no memory here"))))
	require.Contains(t, out.String(), "memory  none: no memory here\n")
}

func TestViewOnAPage(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, doc.Write(&out, []byte(object), View("auto", nil)))
	for _, want := range []string{`data-json="/dump/chip"`, `data-json="/dump/data/round_trip/0/evaluate_p50_ns"`, "<svg",
		"known · opset", "list · 4", ">_C<", ">go:<", "add, sub"} {
		require.Contains(t, out.String(), want)
	}
	require.NotContains(t, out.String(), ">again<")
	require.NotContains(t, out.String(), "list · 2")
}
