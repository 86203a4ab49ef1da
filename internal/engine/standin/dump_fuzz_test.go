package standin

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/plist"
)

// FuzzReadDump: no dump causes a panic. The result is a property list, and a
// program that matches the dump stays within its surfaces.
func FuzzReadDump(f *testing.F) {
	files, err := filepath.Glob(dumps + "*.json")
	require.NoError(f, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(text, 0)
		f.Add(text, -1)
	}
	for _, text := range hostile {
		f.Add([]byte(text), -1)
	}
	s := newServer(newFake(f, 0), nil)
	p, err := s.build(write(f, map[string]string{"model.mil": addition}))
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, text []byte, row int) {
		v, err := plist.Read(text)
		if err != nil || len(text) > 1<<16 {
			return
		}
		d := &Dump{Row: max(row, -1)}
		if d.read(v) != nil {
			return
		}
		list, err := d.list()
		require.NoError(t, err)
		_, err = plist.Read(list)
		require.NoError(t, err)
		if d.Program == nil {
			return
		}
		own := &program{inputs: p.inputs, outputs: p.outputs}
		for _, one := range p.procedures {
			c := *one
			c.program, c.in, c.out = own, slices.Clone(one.in), slices.Clone(one.out)
			own.procedures = append(own.procedures, &c)
		}
		own.named = own.procedures
		d.Program.arrange(own)
		_, err = plist.XML(d.Program.attributes)
		require.NoError(t, err)
		for _, one := range own.named {
			if one == nil {
				continue
			}
			for _, a := range one.in {
				x, ok := transferOf(a, p.procedures[0].exec.Inputs()[a.place])
				if !ok {
					continue
				}
				var reach int64
				for _, b := range x.here {
					reach += (b.length - 1) * b.stride
				}
				require.LessOrEqual(t, reach+x.size, int64(x.room))
			}
		}
	})
}

// hostile are dumps that no machine produces.
var hostile = []string{
	`{"data": {"NetworkStatusList": "none", "ANEFModelDescription": [1]}}`,
	`{"data": {"NetworkStatusList": [{"LiveInputList": {"a": 1}, "LiveOutputList": [[], 3, "x", {}]}, "x", []]}}`,
	`{"data": {"ANEFModelDescription": {"ANEFModelProcedures": []}, "NetworkStatusList": []}}`,
	`{"data": {"ANEFModelDescription": {"ANEFModelProcedures": [{"ANEFModelProcedureID": -1, "ANEFModelInputSymbolIndexArray": [4294967296, -1, "0", true, 9223372036854775807], "ANEFModelOutputSymbolIndexArray": [18446744073709551615]}, 7],
		"kANEFModelInputSymbolsArrayKey": ["b", 3, "b"], "kANEFModelOutputSymbolsArrayKey": "y@output", "kANEFModelProcedureNameToIDMapKey": {"main": -1, "": "x"}}}}`,
	`{"data": {"ANEFModelDescription": {"ANEFModelProcedures": [{"ANEFModelInputSymbolIndexArray": [0, 0], "ANEFModelOutputSymbolIndexArray": [0]}], "kANEFModelInputSymbolsArrayKey": ["a", "b"],
		"kANEFModelOutputSymbolsArrayKey": ["y@output"]}, "NetworkStatusList": [{"LiveInputList": [{"Name": "a", "Batches": 9223372036854775807, "BatchStride": 9223372036854775807}, {"Symbol": "b", "BatchStride": -1}]}]}}`,
	`{"data": {"NetworkStatusList": [{"LiveInputList": [{"Name": "a", "Symbol": "b"}, {"Name": "b", "BatchStride": 1e308, "RowStride": -9223372036854775808}], "LiveOutputList": [{"Name": "y@output", "Type": "Float16", "RowStride": 0}]}]}}`,
	`{"data": {"model": {"state": -1, "queueDepth": 1000000, "programHandle": 18446744073709551615, "intermediateBufferHandle": -1, "isMILModel": false, "perfStatsMask": 4294967296}}}`,
	`{"data": {"model": {"queueDepth": 0, "state": "3"}, "device": {"numANEs": -1, "numANECores": 99999999999, "productName": "", "aneBoardType": -5, "hasANE": 1}, "ioreg": {"H11ANEIn": {"": {"": []}, "DeviceProperties": {"ANEDevicePropertyNumANECores": "x"}}}}}`,
	`{"data": {"qos": {"a": 1, "b": {"qos": -1, "queue": -1, "priority": 99999999999}, "unknown": {"queue": 7}}, "qosForProgramPriority": {"0": -1, "other": 4294967299}, "codes": {"3": "", "x": "%@%n%s", "22": " | | "}}}`,
	`{"data": {"errors": [{"stage": "evaluate", "code": 9223372036854775807, "text": "%@ %n %s", "userInfo": {"NSLocalizedDescription": 3, "NSUnderlyingError": "x", "": {}}, "underlying": [{}, {"code": "x"}, 5]}, 3, "x", null]}}`,
	`{"data": [{"code": 13, "underlying": "0x"}, {"code": "8", "text": ""}, {"limit": 9223372036854775807, "text": "x"}, {"limit": -1}, {"count": "0 of 0", "text": "status=0x"}]}`,
	`{"data": {"_ANERequest": {"-validate": "not an encoding {", "+": "v@:", "-a b": "v@:"}, "self_check": [{"class": "_ANEInMemoryModel", "selector": "state", "found": "^{a=[1000000000{b=^?}]}16@0:8"}, 4, {}]}}`,
	`{"data": {"NetworkStatusList": [{"LiveInputList": [{"Name": "a", "Type": "Float16", "RowStride": 64, "Batches": 9223372036854775807, "BatchStride": 9223372036854775807},
		{"Symbol": "b", "BatchStride": -1, "RowStride": 64}], "LiveOutputList": [{"Name": "y@output"}]}]}}`,
	`{"data": {"ANEFModelDescription": {"ANEFModelProcedures": [{"ANEFModelProcedureID": 9, "ANEFModelInputSymbolIndexArray": [1, 0, 1], "ANEFModelOutputSymbolIndexArray": [0]}, {"ANEFModelProcedureID": 9},
		{"ANEFModelInputSymbolIndexArray": []}], "kANEFModelInputSymbolsArrayKey": ["a", "b"], "kANEFModelOutputSymbolsArrayKey": ["y@output"]}}}`,
	`{"data": {"ANEFModelDescription": {"ANEFModelProcedures": [{"ANEFModelInputSymbolIndexArray": [0, 1], "ANEFModelOutputSymbolIndexArray": [0]}], "kANEFModelInputSymbolsArrayKey": ["a", "b"],
		"kANEFModelOutputSymbolsArrayKey": ["y@output"]}, "NetworkStatusList": [{"LiveInputList": [{"BatchStride": 4611686018427387904, "Batches": 4}, {"RowStride": 2, "Type": "Float16"}], "LiveOutputList": 5}]}}`,
	"{\"os\": \"\x7f\", \"data\": {\"NetworkStatusList\": [{\"LiveInputList\": [{\"Name\": \"\\u0000\\ud800\", " +
		"\"Symbol\": \"\\ufffe\"}]}]}}",
}
