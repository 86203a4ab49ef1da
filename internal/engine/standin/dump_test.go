package standin

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/plist"
)

const dumps = "../../../testdata/dumps/"

// dataOf returns the data of a dump file, read without ReadDump.
func dataOf(t testing.TB, file string) any {
	text, err := os.ReadFile(dumps + file)
	require.NoError(t, err)
	var envelope struct{ Data any }
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	require.NoError(t, d.Decode(&envelope))
	return numbers(envelope.Data)
}

// numbers converts the numbers of JSON to int and float64.
func numbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, item := range v {
			v[k] = numbers(item)
		}
	case []any:
		for i, item := range v {
			v[i] = numbers(item)
		}
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return int(n)
		}
		f, _ := v.Float64()
		return f
	}
	return v
}

func dumped(t testing.TB, name string) *Dump {
	d, err := ReadDump(dumps + name)
	require.NoError(t, err)
	return d
}

// written writes a dump file with the data, which is JSON.
func written(t testing.TB, data string) string {
	file := filepath.Join(t.TempDir(), "dump.json")
	require.NoError(t, os.WriteFile(file, []byte(data), 0o600))
	return file
}

func TestEveryDumpFileCanBeReplayed(t *testing.T) {
	files, err := filepath.Glob(dumps + "*.json")
	require.NoError(t, err)
	require.Len(t, files, 41)
	profiles := map[string]string{"anerrors-27.json": "27", "m1-status-head.json": "27",
		"m1-status-projector.json": "27",
		"m1-status-target0.json":   "27", "m1-capture-mlx-ane-sd.json": "27", "method-encodings-27.json": "27",
		"symbol-orders.json": "27", "m4max-27-attributes-cache-stats.json": "27",
		"a18pro-27.0.1-daemons.json": "27", "a18pro-27.0.1-timings.json": "27",
		"a18pro-27.0.1-weights-dictionary.json": "27", "code-10-on-27.json": "27", "error-codes-27-more.json": "27",
		"framework-382.11-bundle-verification.json": "27", "m3ultra-shape-cliffs.json": "27",
		"m5-27-power-signals.json": "27", "m5max-27.0-maderix-tests.json": "27",
		"m5max-27.0.1-program-pool.json": "27", "m5max-27.0.1-reclaim.json": "27"}
	builds := map[string]string{"m1-status-head.json": "26A434", "m1-status-projector.json": "26A434",
		"m1-status-target0.json":     "26A434",
		"m1-capture-mlx-ane-sd.json": "26A434", "method-encodings-27.json": "26A5378j",
		"symbol-orders.json":         "26A5421a",
		"a18pro-27.0.1-daemons.json": "26A434", "a18pro-27.0.1-timings.json": "26A434",
		"a18pro-27.0.1-weights-dictionary.json": "26A434", "code-10-on-27.json": "26A5421a",
		"error-codes-27-more.json": "26A5421a", "m3ultra-power-transition.json": "25F84",
		"m3ultra-shape-cliffs.json": "26A5421a", "m5max-27.0-maderix-tests.json": "26A5421a",
		"m5max-27.0.1-program-pool.json": "26A434", "m5max-27.0.1-reclaim.json": "26A434",
		"m5pro-26.6.2-procedure-banks.json":     "25G83",
		"h15g-26.3.1-qos-hints-attributes.json": "25D2128", "h15g-26.3.1-xpc-replies.json": "25D2128"}
	for _, file := range files {
		base := filepath.Base(file)
		d, err := ReadDump(file)
		require.NoError(t, err)
		require.Equal(t, file, d.File)
		require.Equal(t, -1, d.Row)
		require.NotEmpty(t, d.Chip)
		profile := profiles[base]
		if profile == "" {
			profile = "26"
		}
		require.Equal(t, profile, d.Profile, base)
		require.Equal(t, builds[base], d.Build, base)
		_, err = d.list()
		require.NoError(t, err)
	}
}

// replaying returns the attributes of a text while a dump is replayed.
func replaying(t testing.TB, d *Dump, text string) plist.Dict {
	s := newServer(newFake(t, 0), d)
	h, err := s.compile(write(t, map[string]string{"model.mil": text}))
	require.NoError(t, err)
	t.Cleanup(func() { s.DropProgram(h) })
	v, err := plist.Read(s.Attributes(h))
	require.NoError(t, err)
	return v.(plist.Dict)
}

func TestDumpedProgramsAreAnsweredExactly(t *testing.T) {
	d := dumped(t, "ironmill-identity-1x4x1x4-fp16.json")
	text := `program(1.3) { func main<ios18>(tensor<fp16, [1, 4, 1, 4]> a_input0) { tensor<fp16, [1, 4, 1, 4]> out = add(x = a_input0, y = a_input0)[name = string("out")]; } -> (out); }`
	all := dataOf(t, "ironmill-identity-1x4x1x4-fp16.json").(map[string]any)
	require.Equal(t, map[string]any{"ANEFModelDescription": all["ANEFModelDescription"],
		"NetworkStatusList": all["NetworkStatusList"]},
		unordered(replaying(t, d, text)))
	require.Equal(t, []DumpedTensor{{Name: "a_input0", Type: "Float16", Batches: 1, Depth: 1, Channels: 4, Height: 1,
		Width: 4}}, bareTensors(d.Program.Inputs))
	require.Equal(t, []DumpedTensor{{Name: "out"}}, bareTensors(d.Program.Outputs))

	other := replaying(t, d, addition)
	require.Equal(t, []string{"BatchStride", "Batches", "Channels", "Depth", "DepthStride", "Height", "Interleave",
		"PlaneCount", "PlaneStride", "RowStride", "Type", "Width"},
		keysOf(firstEntry(other)), "other programs have the keys of the dump's entries, in the same order")
}

// bareTensors returns tensors without the fields for the replay.
func bareTensors(list []DumpedTensor) (bare []DumpedTensor) {
	for _, t := range list {
		t.entry, t.index = nil, 0
		bare = append(bare, t)
	}
	return bare
}

func keysOf(d plist.Dict) (keys []string) {
	for _, e := range d {
		keys = append(keys, e.Key)
	}
	return keys
}

func firstEntry(root plist.Dict) plist.Dict {
	return root.Array("NetworkStatusList")[0].(plist.Dict).Array("LiveInputList")[0].(plist.Dict)
}

func TestStatusDumpsKeepTheirOrder(t *testing.T) {
	for _, name := range []string{"m1-status-head.json", "m1-status-projector.json", "m1-status-target0.json"} {
		d := dumped(t, name)
		require.Equal(t, dataOf(t, name), unordered(d.Program.attributes))
		require.Equal(t, liveKeys, d.keys)
		require.Equal(t, []string{"LiveInputList", "LiveOutputList", "Name"},
			keysOf(d.Program.attributes.Array("NetworkStatusList")[0].(plist.Dict)))
	}
	d := dumped(t, "m1-status-head.json")
	require.Equal(t, "logits18", d.Program.Outputs[9].Name, "before logits1")
	require.Equal(t, "logits1", d.Program.Outputs[10].Name)
}

func TestKeysOfProseDumps(t *testing.T) {
	for name, first := range map[string]string{"h15g-26.3.1-qos-hints-attributes.json": "BatchStride",
		"h15g-26.3.1-xpc-replies.json": "Symbol"} {
		d := dumped(t, name)
		keys := keysOf(firstEntry(replaying(t, d, addition)))
		require.Equal(t, first, keys[0])
		list := dataOf(t, name).(map[string]any)["live_entry_keys"].([]any)
		require.Len(t, keys, len(list))
		for i, key := range list {
			require.Equal(t, key, keys[i])
		}
	}
}

// TestDumpOfTwoProceduresWithEqualNames: the names of the hwx program occur twice. Its
// tensors are images, which the stand-in does not run.
func TestDumpOfTwoProceduresWithEqualNames(t *testing.T) {
	d := dumped(t, "m1-hwx-two-procedures-420v.json")
	text := functions(`func main<ios18>(T input_tensor) { T output_tensor = add(x = input_tensor, y = input_tensor)[name = string("output_tensor")]; } -> (output_tensor);`)
	after := dataOf(t, "m1-hwx-two-procedures-420v.json").(map[string]any)["after_load"].(map[string]any)
	require.Equal(t, after["attr"], unordered(replaying(t, d, text)))
	require.Equal(t, tables{"model": {{Key: "state", Value: int64(3)}, {Key: "programHandle",
		Value: int64(13180918199944)},
		{Key: "intermediateBufferHandle", Value: int64(13180918268745)}, {Key: "queueDepth",
			Value: int64(127)}, {Key: "perfStatsMask", Value: int64(0)}}}, d.tables)
	m := newFake(t, 2)
	s := newServer(m, d)
	h, err := s.compile(write(t, map[string]string{"model.mil": text}))
	require.NoError(t, err)
	log := logged(t)
	require.Equal(t, failed, s.evaluate(h, 0, 1, []uint32{1}, []uint32{2}))
	require.Contains(t, log.String(), "cannot hold the tensor")
	require.Equal(t, badIndex, s.evaluate(h, 1, 1, []uint32{1}, []uint32{2}), "the text has one function")
	s.DropProgram(h)
}

func TestErrorsOfTables(t *testing.T) {
	for name, want := range map[string]DumpedError{
		"anerrors-27.json#0": {Stage: "evaluate", Code: 42},
		"anerrors-27.json#1": {Stage: "evaluate", Code: 47,
			Text: "processRequest:… Inference failed — request aborted (underlying=0x15)"},
		"anerrors-27.json#2": {Stage: "load", Code: 53,
			Text: "createProgramInstanceForModel:...: Program load failed — no memory (transient; retry under lower " +
				"memory pressure) (underlying=0x1)"},
		"anerrors-27.json#3": {Stage: "load",
			Text: "Program load failed — no ANE resources (transient; retry) (underlying=0x5)"},
		"errors-up-to-26.json#0": {Stage: "evaluate", Code: 8,
			Text: "…: ANEProgramProcessRequestDirect() Failed with status=0x1d : statusType=0x9: Program Inference " +
				"error"},
		"errors-up-to-26.json#1": {Stage: "evaluate", Code: 8,
			Text: "…: ANEProgramProcessRequestDirect() Failed with status=0x1d : statusType=0x9: Program Inference " +
				"error"},
		"errors-up-to-26.json#3": {Stage: "evaluate", Code: 8,
			Text: "…Failed with status=0x1 : statusType=0x9: Program Inference error"},
		"errors-up-to-26.json#4": {Stage: "evaluate", Code: 8, Text: "…statusType=0x8…"},
		"errors-up-to-26.json#5": {Stage: "evaluate", Code: 8, Text: "status=0x12 : statusType=0x9: Request cancelled",
			Refusals: 7},
		"errors-up-to-26.json#8": {Stage: "chaining", Code: 15,
			Text: "ANEProgramChainingPrepare() Failed: Program chaining prepare error"},
		"errors-up-to-26.json#9": {Stage: "compile", Code: 10, Text: "verifyBundleAtPath: invalid model"},
		"errors-up-to-26.json#10": {Stage: "load", Code: 16,
			Text: `… file not found; "cachedModelFilePath=<private> does not exist"; compileAsNeededAndLoadCachedModel:...`},
		"errors-up-to-26.json#11": {Stage: "compile",
			Text: "_ANEEspressoIRTranslator : error Cannot load network .../model.espresso.net"},
		"errors-up-to-26.json#12": {Stage: "map", Code: 13,
			Text: "mapIOSurfacesWithModel:request:cacheInference:error:: Program IOSurfaces map failure (0x1D)"},
		"errors-up-to-26.json#13": {Stage: "map", Code: 13},
		"compile-errors.json":     compileError("InvalidMILProgram"),
		"compile-errors.json#1":   compileError("InvalidCompilationParam"),
		"compile-errors.json#2":   compileError(""),
		"compile-errors.json#3":   {Stage: "compile", Domain: errorDomain + ".compiler", Code: 22},
		"slots-and-loads.json": {Stage: "wall", Code: 6,
			Text: "createProgramInstanceForModel:…memoryPoolID:…optOutOfModelMemoryUnwiring:error:: Program load " +
				"failure (0x50004)"},
		"slots-and-loads.json#4": {Stage: "load", Code: 6},
	} {
		t.Run(name, func(t *testing.T) {
			d := dumped(t, name)
			var found []DumpedError
			for _, e := range d.Errors {
				if e.Replayed {
					found = append(found, e)
				}
			}
			if want.Domain == "" {
				want.Domain = errorDomain
			}
			want.Replayed = true
			require.Len(t, found, 1)
			got := found[0]
			got.status, got.has, got.userInfo = 0, false, nil
			require.Equal(t, want, got)
		})
	}
	require.Equal(t, plist.Dict{{Key: "_ANEErrorUnderlyingStatus", Value: int64(1)}, {Key: "_ANEErrorLoadStage",
		Value: int64(4)}},
		dumped(t, "anerrors-27.json#2").Errors[2].userInfo)
	require.EqualValues(t, 0x10004, dumped(t, "slots-and-loads.json#4").Errors[0].status)
	require.EqualValues(t, 0x12, dumped(t, "errors-up-to-26.json#13").Errors[13].status)
	require.Equal(t, "27", dumped(t, "errors-up-to-26.json#5").Profile)

	all := map[string]int64{} // without #N, the first error of each stage
	for _, e := range dumped(t, "errors-up-to-26.json").Errors {
		if e.Replayed {
			require.NotContains(t, all, e.Stage)
			all[e.Stage] = e.Code
		}
	}
	require.Equal(t, map[string]int64{"compile": 10, "load": 16, "evaluate": 8, "map": 13, "chaining": 15}, all)
}

func compileError(cause string) DumpedError {
	const domain = errorDomain + ".compiler"
	return DumpedError{Stage: "compile", Domain: domain, Code: 1, Text: "_ANECompiler : ANECCompile() FAILED",
		Underlying: []DumpedError{{Domain: domain, Code: 1,
			Text: "ANECCompile(<path …/CFEEBA68…_F8815657…_E3B0C442…>) FAILED: err=(" + cause + ")"}}}
}

func TestTablesOfDevices(t *testing.T) {
	value := func(name, table, key string) any {
		v, _ := dumped(t, name).tables[table].Get(key)
		return v
	}
	require.EqualValues(t, 32, value("device-info.json", "device", "numANECores"))
	require.Equal(t, "25F84", value("device-info.json", "device", "buildVersion"))
	require.Equal(t, "26", dumped(t, "device-info.json").Profile)
	require.EqualValues(t, 256, value("device-info.json#1", "device", "aneBoardType"))
	require.Equal(t, "27", dumped(t, "device-info.json#1").Profile)
	require.Equal(t, plist.Dict{{Key: "IONameMatch", Value: "ane,t8020"}, {Key: "FirmwareLoaded", Value: "Yes"},
		{Key: "DeviceProperties", Value: plist.Dict{
			{Key: "ANEDevicePropertyANEVersion", Value: int64(192)}, {Key: "ANEDevicePropertyANEMinorVersion",
				Value: int64(17)},
			{Key: "ANEDevicePropertyNumANECores",
				Value: int64(16)}, {Key: "ANEDevicePropertyTypeANEArchitectureTypeStr",
				Value: "h16g"}}}},
		value("device-info.json#2", "registry", "H11ANEIn"))
	require.Equal(t, plist.Dict{{Key: "DeviceProperties", Value: plist.Dict{{Key: "ANEDevicePropertyNumANECores",
		Value: int64(16)}}}},
		value("device-info.json#5", "registry", "H11ANEIn"))
	require.Equal(t, plist.Dict{{Key: "DeviceProperties", Value: plist.Dict{{Key: "ANEDevicePropertyNumANEs",
		Value: int64(1)}}}},
		value("device-info.json#5", "registry", "H1xANELoadBalancer"))
	require.Equal(t, "26A5378j", value("device-info.json#4", "device", "buildVersion"))
	require.Equal(t, plist.Dict{{Key: "DeviceProperties",
		Value: plist.Dict{{Key: "ANEDevicePropertyTypeANEArchitectureTypeStr", Value: "h14g"},
			{Key: "ANEDevicePropertyANEVersion", Value: int64(128)}, {Key: "ANEDevicePropertyANEHWBoardType",
				Value: int64(160)},
			{Key: "ANEDevicePropertyANEMinorVersion",
				Value: int64(1)}}}}, value("device-info.json#6", "registry", "H11ANEIn"))
	require.Equal(t, plist.Dict{{Key: "DeviceProperties", Value: plist.Dict{{Key: "ANEDevicePropertyNumANEs",
		Value: int64(2)}}}},
		value("device-info.json#7", "registry", "H1xANELoadBalancer"))
	require.EqualValues(t, 2, value("device-info.json#8", "device", "numANEs"))
	require.Equal(t, "h13g", value("device-info.json#8", "device", "aneArchitectureType"))
	require.EqualValues(t, 127, value("slots-and-loads.json", "limits", "programs"))
	require.EqualValues(t, 237, value("slots-and-loads.json#1", "limits", "programs"))
	require.EqualValues(t, 118, value("slots-and-loads.json#3", "limits", "programs"))
	require.EqualValues(t, 115, value("m5max-27.0.1-program-pool.json", "limits", "programs"))
	require.EqualValues(t, 3, value("h15g-26.3.1-qos-hints-attributes.json", "queueOfQoS", "33"))
	require.EqualValues(t, 5, value("h15g-26.3.1-qos-hints-attributes.json", "priorityOfQoS", "other"))
	require.EqualValues(t, 25, value("h15g-26.3.1-qos-hints-attributes.json", "qosOfPriority", "4"))
	require.EqualValues(t, 0x52938642d2b, value("m5max-h17-strides.json", "model", "programHandle"))
	require.EqualValues(t, 0x4d697c3e1f2, value("h15g-26.3.1-xpc-replies.json", "model", "programHandle"))
	require.Equal(t, "Program load failure", value("anerrors-texts-pre-27.json", "texts", "6"))
	require.Equal(t, "Guest-to-Host interface too old, feature not supported", value("anerrors-texts-pre-27.json",
		"texts", "22.1"))
	d := dumped(t, "method-encodings-27.json")
	require.Contains(t, d.changed, "_ANEInMemoryModel queueDepth c16@0:8")
	require.Contains(t, d.changed, "_ANERequest requestWithInputs:inputIndices:"+
		"outputs:outputIndices:weightsBuffer:perfStats:procedureIndex: @72@0:8@16@24@32@40@48@56@64")
	require.Empty(t, d.missing)
}

// TestReports reads dumps in the form of this project's reports.
func TestReports(t *testing.T) {
	d, err := ReadDump(written(t, `{"os": "macOS 27.1 (27B12)", "data": {
		"model": {"state": 3, "queueDepth": 64, "intermediateBufferHandle": 0, "perfStatsMask": 0},
		"device": {"hasANE": true, "numANEs": 1, "aneArchitectureType": "h13g", "buildVersion": "27B13", "isVirtualMachine": "no", "isInternalBuild": "maybe"},
		"ioreg": {"H11ANEIn": {"ANEDevicePropertyANEVersion": 96}},
		"self_check": [{"class": "_ANERequest", "selector": "validate", "class_method": false, "found": "c@:"},
			{"class": "_ANEClient", "selector": "echo:", "found": ""}, {"class": "_ANEClient", "selector": "other:"}, {"class": "a b", "selector": "c", "found": "v@:"}],
		"errors": [{"stage": "load", "domain": "com.apple.appleneuralengine", "code": 53, "text": "first", "recovered": true},
			{"stage": "evaluate", "domain": "d", "code": 42, "text": "t", "userInfo": {"_ANEErrorUnderlyingStatus": 29}, "underlying": [{"domain": "e", "code": 2, "text": "u"}]},
			{"stage": "unload", "domain": "d", "code": 23, "text": "gone"}, {"stage": "evaluate", "code": 8, "text": "second"}]}}`))
	require.NoError(t, err)
	require.Equal(t, "27", d.Profile)
	require.Equal(t, "27B12", d.Build)
	require.Equal(t, []string{"_ANERequest validate c@:"}, d.changed)
	require.Equal(t, []string{"_ANEClient echo:"}, d.missing)
	build, _ := d.tables["device"].Get("buildVersion")
	require.Equal(t, "27B13", build)
	virtual, _ := d.tables["device"].Get("isVirtualMachine")
	require.Equal(t, false, virtual)
	_, ok := d.tables["device"].Get("isInternalBuild")
	require.False(t, ok, "of another type")
	require.Len(t, d.Errors, 4)
	for i, replayed := range []bool{false, true, true, false} {
		require.Equal(t, replayed, d.Errors[i].Replayed, "row %d", i)
	}
	require.Equal(t, []DumpedError{{Domain: "e", Code: 2, Text: "u"}}, d.Errors[1].Underlying)
	o := Options{Missing: []string{"a"}}.with(d)
	require.Equal(t, "27", o.Profile)
	require.Equal(t, []string{"a", "_ANEClient echo:"}, o.Missing)
	require.Equal(t, "16.5", Options{Profile: "16.5"}.with(d).Profile)
}

// manyNames are more keys than a map of procedures can have.
func manyNames() string {
	names := make([]string, maxEntries+1)
	for i := range names {
		names[i] = fmt.Sprintf(`"f%d": 0`, i)
	}
	return strings.Join(names, ",")
}

func TestDumpsThatCannotBeReplayed(t *testing.T) {
	for name, c := range map[string]struct{ file, message string }{
		"no file":        {filepath.Join(t.TempDir(), "none.json"), "none.json"},
		"broken":         {written(t, "{\n\"data\": [,]}"), "line 2"},
		"no dictionary":  {written(t, "[]"), "no dictionary"},
		"no data":        {written(t, `{"os": "26"}`), "no key data"},
		"no such entry":  {dumps + "device-info.json#9", "table of 9"},
		"no table":       {dumps + "perf-stats.json#0", "table of 0"},
		"nothing to say": {dumps + "errors-up-to-26.json#14", "nothing to replay"},
		"many procedures": {written(t, `{"data": {"NetworkStatusList": [`+strings.Repeat("{},", 129)+`{}]}}`),
			"at most 129"},
		"many names": {written(t, `{"data": {"ANEFModelDescription": {"kANEFModelProcedureNameToIDMapKey": {`+
			manyNames()+`}}}}`), "1025 names"},
		"many live tensors": {written(t, `{"data": {"NetworkStatusList": [{"LiveInputList": [`+strings.Repeat("{},",
			maxEntries)+`{}]}]}}`), "more than 1024"},
		"shared entries": {written(t, `{"data": {"ANEFModelDescription": {"ANEFModelProcedures": [`+
			strings.Repeat("{},", 127)+`{}]},
			"NetworkStatusList": [{"LiveInputList": [`+strings.Repeat("{},", 999)+`{}]}]}}`), "without ANEFModelInputSymbolIndexArray"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ReadDump(c.file)
			require.ErrorIs(t, err, ane.ErrUnavailable)
			require.ErrorContains(t, err, c.message)
			require.ErrorContains(t, err, strings.Split(c.file, "#")[0])
			require.ErrorContains(t, err, EnvDump)
		})
	}
	d, err := ReadDump(written(t, `{"NetworkStatusList": [{"LiveInputList": [{"Name": "x"}]}], "Other": null}`))
	require.NoError(t, err, "only attributes")
	require.Equal(t, "x", d.Program.Inputs[0].Name)
}
