//go:build cgo

package standin

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/bridgetest"
	"github.com/anekit/anekit/internal/engine/driverabi"
	"github.com/anekit/anekit/objcbridge"
)

// replays check the framework's answers for each dump, in separate processes.
var replays = map[string]func(*replay){
	"a18pro-27.0.1-daemons.json": func(r *replay) {
		want := dataOf(r.t, "a18pro-27.0.1-daemons.json").(map[string]any)["state_after_load"]
		r.facts("state", want)
		require.Equal(r.t, "26A434", r.device().Build)
	},
	"a18pro-27.0.1-timings.json":            func(r *replay) { r.runs() },
	"a18pro-27.0.1-weights-dictionary.json": func(r *replay) { r.runs() },
	"anerrors-27.json#0": func(r *replay) {
		r.evaluateFails(42, "processRequest:model:qos:qIndex:modelStringID:options:returnValue:error:: Inference "+
			"failed — IOSurface smaller than "+
			"the model expects (re-check inputBufferSize/outputBufferSize from the load reply) (underlying=0x1D)")
	},
	"anerrors-27.json#1": func(r *replay) {
		r.evaluateFails(47, "processRequest:… Inference failed — request aborted (underlying=0x15)")
	},
	"anerrors-27.json#2": func(r *replay) {
		r.loadFails(53, "createProgramInstanceForModel:...: Program load failed — no memory (transient; retry under "+
			"lower memory pressure) (underlying=0x1)")
	},
	"anerrors-27.json#3": func(r *replay) {
		r.loadFails(0, "Program load failed — no ANE resources (transient; retry) (underlying=0x5)")
	},
	"anerrors-texts-pre-27.json": func(r *replay) {
		r.runs()
		c := newMessages(r.t)
		code, text := c.refused(c.send(c.named("_ANEClient"), "sharedConnection"),
			"mapIOSurfacesWithModel:request:cacheInference:error:", 0, 0, 0)
		require.EqualValues(r.t, 13, code)
		require.Equal(r.t, "mapIOSurfacesWithModel:request:cacheInference:error:: "+
			"Program IOSurfaces map failure (0x12)", text)
	},
	"apple-compiler-h13-h14-envelope.json": func(r *replay) { r.runs() },
	"code-10-on-27.json": func(r *replay) {
		_, err := r.program(addition).Compile(driverabi.QoSDefault)
		r.is(err, 10, "verifyBundleAtPath: invalid model")
	},
	"compile-errors.json":   func(r *replay) { r.compileFails("InvalidMILProgram") },
	"compile-errors.json#1": func(r *replay) { r.compileFails("InvalidCompilationParam") },
	"compile-errors.json#2": func(r *replay) { r.compileFails("") },
	"device-info.json": func(r *replay) {
		d := r.device()
		require.Equal(r.t, objcbridge.Device{HasANE: objcbridge.AnswerYes, VirtualMachine: objcbridge.AnswerNo,
			InternalBuild: objcbridge.AnswerNo,
			Engines:       2, Cores: 32, Board: 65535, Architecture: "h15g", Subtype: "h15", Variant: "g",
			Product: "anekit stand-in", Build: "25F84"}, d)
	},
	"device-info.json#1": func(r *replay) {
		d := r.device()
		require.Equal(r.t, []any{"h16g", "h16", "macOS", 16, int64(256)}, []any{d.Architecture, d.Subtype, d.Product,
			d.Cores, d.Board})
	},
	"device-info.json#2": func(r *replay) {
		r.property("ANEDevicePropertyANEVersion", "192")
		r.property("ANEDevicePropertyANEMinorVersion", "17")
		r.property("ANEDevicePropertyTypeANEArchitectureTypeStr", "h16g")
	},
	"device-info.json#3": func(r *replay) {
		r.property("ANEDevicePropertyANECPUSubType", "9")
		r.property("ANEDevicePropertyANEHWBoardType", "544")
	},
	"device-info.json#5":         func(r *replay) { r.property("ANEDevicePropertyNumANECores", "16") },
	"device-info.json#8":         func(r *replay) { require.Equal(r.t, 2, r.device().Engines) },
	"error-codes-27-more.json#0": func(r *replay) { r.evaluateFails(34, "… Request cancelled …") },
	"error-codes-27-more.json#1": func(r *replay) { r.loadFails(54, "… no ANE resources …") },
	"error-codes-27-more.json#2": func(r *replay) {
		_, err := r.program(addition).Compile(driverabi.QoSDefault)
		r.is(err, 10, "verifyBundleAtPath: invalid model")
	},
	"errors-up-to-26.json": func(r *replay) {
		_, err := r.program(addition).Compile(driverabi.QoSDefault)
		r.is(err, 10, "verifyBundleAtPath: invalid model")
		c := newMessages(r.t)
		client := c.send(c.named("_ANEClient"), "sharedConnection")
		code, text := c.refused(client, "mapIOSurfacesWithModel:request:cacheInference:error:", 0, 0, 0)
		require.EqualValues(r.t, 13, code)
		require.Equal(r.t, "mapIOSurfacesWithModel:request:cacheInference:error:: "+
			"Program IOSurfaces map failure (0x1D)", text)
		code, text = c.refused(client, "prepareChainingWithModel:options:chainingReq:qos:error:", 0, 0, 0, 21)
		require.EqualValues(r.t, 15, code)
		require.Equal(r.t, "ANEProgramChainingPrepare() Failed: Program chaining prepare error", text)
	},
	"errors-up-to-26.json#0": func(r *replay) {
		r.evaluateFails(8, "…: ANEProgramProcessRequestDirect() Failed with status=0x1d : statusType=0x9: Program "+
			"Inference error")
	},
	"errors-up-to-26.json#5": func(r *replay) { // seven calls fail, later ones do not
		p, q := r.ready(addition)
		failures := 0
		for failures < 20 {
			err := q.Evaluate(p, driverabi.QoSDefault)
			if err == nil {
				break
			}
			r.is(err, 8, "status=0x12 : statusType=0x9: Request cancelled")
			failures++
		}
		require.LessOrEqual(r.t, failures, 7)
		require.NoError(r.t, q.Evaluate(p, driverabi.QoSDefault))
	},
	"errors-up-to-26.json#10": func(r *replay) {
		r.loadFails(16, `… file not found; "cachedModelFilePath=<private> does not exist"; compileAsNeededAndLoadCachedModel:...`)
	},
	"framework-382.11-bundle-verification.json": func(r *replay) { // the classes have what that framework gained
		c := newMessages(r.t)
		missing := []string{}
		for _, v := range dataOf(r.t, "framework-382.11-bundle-verification.json").(map[string]any)["framework_selectors"].([]any) {
			class, selector, _ := strings.Cut(strings.Trim(v.(string)[1:], "[]"), " ")
			if strings.HasPrefix(class, "_ANESandboxing") || strings.HasPrefix(class, "_ANEStrings") {
				continue // sandboxes and names of services: the bridge meets neither
			}
			ask := map[byte]string{'+': "respondsToSelector:", '-': "instancesRespondToSelector:"}[v.(string)[0]]
			if c.send(c.named(class), ask, c.selectorOf(selector))&0xff == 0 {
				missing = append(missing, v.(string))
			}
		}
		require.Equal(r.t, []string{"+[_ANEHashEncoding _hexStringByFeeding:]"}, missing, "a helper of its own")
		r.runs()
	},
	"h15-26.5.2-two-files-cache.json": func(r *replay) { // two weight files, quality of service 0
		var files []objcbridge.Weight
		var body []string
		for _, name := range []string{"v", "w"} {
			var w blob.Writer
			at, err := w.Add(mil.FP16, make([]byte, 2*32), 0)
			require.NoError(r.t, err)
			body = append(body, fmt.Sprintf(`tensor<fp16, [1, 1, 1, 32]> %[1]s = const()[name = string("%[1]s"), val = tensor<fp16, [1, 1, 1, 32]>(BLOBFILE(path = string("@model_path/weights/%[1]s.bin"), offset = uint64(%[2]d)))];`, name, at))
			files = append(files, objcbridge.Weight{Path: "@model_path/weights/" + name + ".bin", Data: w.Bytes()})
		}
		p, err := r.b.NewProgram([]byte("program(1.3) { func main<ios18>(tensor<fp16, [1, 1, 1, 32]> x) { "+
			strings.Join(body, "\n")+` tensor<fp16, [1, 1, 1, 32]> s = add(x = x, y = v)[name = string("s")]; tensor<fp16, [1, 1, 1, 32]> y = add(x = s, y = w)[name = string("y")]; } -> (y); }`), files)
		require.NoError(r.t, err)
		r.t.Cleanup(p.Close)
		_, err = p.Compile(0)
		require.NoError(r.t, err)
		require.NoError(r.t, p.Load(0))
		p, q := r.ready(addition)
		require.NoError(r.t, q.Evaluate(p, 0))
	},
	"h15g-26.3.1-qos-hints-attributes.json": func(r *replay) {
		c := newMessages(r.t)
		mapper := c.named("_ANEQoSMapper")
		table := dataOf(r.t, "h15g-26.3.1-qos-hints-attributes.json").(map[string]any)
		for name, v := range table["qos"].(map[string]any) {
			row := v.(map[string]any)
			qos, ok := row["qos"].(int)
			if !ok {
				qos = 77 // the row of unknown values
			}
			require.EqualValues(r.t, row["queue"], c.send(mapper, "queueIndexForQoS:", uintptr(qos)), name)
			require.EqualValues(r.t, row["priority"], c.send(mapper, "programPriorityForQoS:", uintptr(qos)), name)
		}
		require.EqualValues(r.t, 25, c.send(mapper, "qosForProgramPriority:", 4))
		r.facts("state", 3, "queueDepth", 127, "intermediate", 0)
		require.Equal(r.t, "25D2128", r.device().Build)
	},
	"h15g-26.3.1-xpc-replies.json": func(r *replay) {
		r.facts("handle", 0x4d697c3e1f2, "queueDepth", 127,
			"intermediate", 0)
	},
	"h17-fp32-live-entry.json": func(r *replay) {
		want := dataOf(r.t, "h17-fp32-live-entry.json").(map[string]any)["entry"].(map[string]any)
		got := r.entry(`program(1.3) { func main<ios18>(tensor<fp32, [1, 64, 1, 1]> x) { tensor<fp32, [1, 64, 1, 1]> y = relu(x = x)[name = string("y")]; } -> (y); }`)
		for key, v := range want {
			require.EqualValues(r.t, v, got[key], key)
		}
	},
	"in-memory-model-behaviour.json": func(r *replay) { r.runs() },
	"ironmill-identity-1x4x1x4-fp16.json": func(r *replay) {
		all := dataOf(r.t, "ironmill-identity-1x4x1x4-fp16.json").(map[string]any)
		text := `program(1.3) { func main<ios18>(tensor<fp16, [1, 4, 1, 4]> a_input0) { tensor<fp16, [1, 4, 1, 4]> out = add(x = a_input0, y = a_input0)[name = string("out")]; } -> (out); }`
		require.Equal(r.t, map[string]any{"ANEFModelDescription": all["ANEFModelDescription"],
			"NetworkStatusList": all["NetworkStatusList"]}, r.attributes(text))
		d := r.device()
		require.Equal(r.t, []any{"h14g", 16, 1, "macOS"}, []any{d.Architecture, d.Cores, d.Engines, d.Product})
		p, q := r.ready(text)
		require.NoError(r.t, q.Evaluate(p, driverabi.QoSDefault))
	},
	"m1-capture-mlx-ane-sd.json": func(r *replay) {
		root := r.attributes(functions(`func main<ios18>(T q, T k, T v) { T y = add(x = q, y = k)[name = string("y")]; T z = add(x = y, y = v)[name = string("z")]; } -> (z);`))
		require.Equal(r.t, []any{"k", "q", "v"},
			root["ANEFModelDescription"].(map[string]any)["kANEFModelInputSymbolsArrayKey"])
	},
	"m1-hwx-two-procedures-420v.json": func(r *replay) {
		after := dataOf(r.t, "m1-hwx-two-procedures-420v.json").(map[string]any)["after_load"].(map[string]any)
		text := functions(`func main<ios18>(T input_tensor) { T output_tensor = add(x = input_tensor, y = input_tensor)[name = string("output_tensor")]; } -> (output_tensor);`)
		require.Equal(r.t, after["attr"], r.attributes(text))
		r.facts("handle", 13180918199944, "intermediate", 13180918268745)
	},
	"m1-status-head.json":      func(r *replay) { r.status("m1-status-head.json") },
	"m1-status-projector.json": func(r *replay) { r.status("m1-status-projector.json") },
	"m1-status-target0.json":   func(r *replay) { r.status("m1-status-target0.json") },
	"m1-task-descriptor-strides.json": func(r *replay) {
		got := r.entry(`program(1.3) { func main<ios18>(tensor<fp16, [1, 512, 1, 32]> x) { tensor<fp16, [1, 512, 1, 32]> y = relu(x = x)[name = string("y")]; } -> (y); }`)
		require.Equal(r.t, []any{0x40, 0x40, 0x8000}, []any{got["RowStride"], got["PlaneStride"], got["DepthStride"]})
	},
	"m3ultra-power-transition.json": func(r *replay) { r.runs() },
	"m3ultra-shape-cliffs.json":     func(r *replay) { r.runs() },
	"m4max-27-attributes-cache-stats.json": func(r *replay) {
		require.Contains(r.t, r.attributes(addition), "NetworkStatusList", "the inner model answers")
	},
	"m5-26.3-qos-index-weights.json": func(r *replay) {
		p, q := r.ready(addition)
		for _, qos := range []uint32{0, 1, 5, 10, 21, 33, 47, 63} {
			require.NoError(r.t, q.Evaluate(p, qos))
		}
	},
	"m5-26.3-two-procedures-mil.json": func(r *replay) {
		const form = "tensor<fp32, [1, 64, 1, 32]>"
		body := func(name, x, y string) string {
			return "func " + name + "<ios18>(" + form + " " + x + ") { " + form + " " + y + ` = relu(x = ` + x +
				`)[name = string("` + y + `")]; } -> (` + y + ");"
		}
		p := loadedProgram(r.t, r.b, "program(1.3) { "+body("layer0", "x0", "y0")+body("layer1", "x1", "y1")+" }")
		d := r.read(p)["ANEFModelDescription"].(map[string]any)
		all := dataOf(r.t, "m5-26.3-two-procedures-mil.json").(map[string]any)
		require.Equal(r.t, all["name_to_id"], d["kANEFModelProcedureNameToIDMapKey"])
		require.Equal(r.t, all["input_symbols"], d["kANEFModelInputSymbolsArrayKey"])
		require.Equal(r.t, all["output_symbols"], d["kANEFModelOutputSymbolsArrayKey"])
		for i, v := range all["procedures"].([]any) {
			want, got := v.(map[string]any), d["ANEFModelProcedures"].([]any)[i].(map[string]any)
			require.Equal(r.t, []any{want["ANEFModelProcedureID"], want["in"], want["out"]},
				[]any{got["ANEFModelProcedureID"], got["ANEFModelInputSymbolIndexArray"],
					got["ANEFModelOutputSymbolIndexArray"]})
		}
		require.Equal(r.t, "0x2", all["wrong_indices_status"])
		for procedure := range 2 {
			for in := range 2 {
				for out := range 2 {
					err := r.indexed(p, procedure, in, out).Evaluate(p, driverabi.QoSDefault)
					if in == procedure && out == procedure {
						require.NoError(r.t, err)
						continue
					}
					require.EqualValues(r.t, 2, r.is(err, 8, "").Status)
				}
			}
		}
		r.is(r.indexed(p, 2, 0, 0).Evaluate(p, driverabi.QoSDefault), 8, "")
	},
	"m5-27-power-signals.json":      func(r *replay) { r.runs() },
	"m5max-27-operators.json":       func(r *replay) { r.wall(127, 6, "Program load failure (0x50004)") },
	"m5max-27.0-maderix-tests.json": func(r *replay) { r.runs() },
	"m5pro-26.6.2-procedure-banks.json": func(r *replay) {
		counts := dataOf(r.t, "m5pro-26.6.2-procedure-banks.json").(map[string]any)["procedures"].(map[string]any)
		for bank, n := range counts {
			var body strings.Builder
			for i := range n.(int) {
				fmt.Fprintf(&body, `func f%[1]d<ios18>(T x%[1]d) { T y%[1]d = add(x = x%[1]d, y = x%[1]d)[name = string("y%[1]d")]; } -> (y%[1]d);`, i)
			}
			description := r.attributes(functions(body.String()))["ANEFModelDescription"].(map[string]any)
			require.Len(r.t, description["ANEFModelProcedures"], n.(int), bank)
		}
	},
	"m5pro-status-0x2-under-memory-pressure.json#0": func(r *replay) {
		r.evaluateFails(8, "ANEProgramProcessRequestDirect() Failed with status=0x2 : statusType=0x9: Program "+
			"Inference error")
	},
	"m5pro-status-0x2-under-memory-pressure.json#1": func(r *replay) {
		r.loadFails(6, "createProgramInstanceForModel:... Program load failure (0x20004)")
	},
	"m5max-h17-strides.json": func(r *replay) {
		for _, c := range []int{1, 3, 64} {
			got := r.entry(fmt.Sprintf(`program(1.3) { func main<ios18>(tensor<fp16, [1, %d, 1, 32]> x) { tensor<fp16, [1, %d, 1, 32]> y = relu(x = x)[name = string("y")]; } -> (y); }`, c, c))
			require.Equal(r.t, []any{64, 64, 2 * c * 32, 2 * c * 32, 1, "Float16"},
				[]any{got["RowStride"], got["PlaneStride"], got["DepthStride"], got["BatchStride"], got["Interleave"],
					got["Type"]})
		}
		r.facts("handle", 0x52938642d2b)
	},
	"m5max-27.0.1-program-pool.json": func(r *replay) {
		all := dataOf(r.t, "m5max-27.0.1-program-pool.json").(map[string]any)
		r.wall(all["two_processes"].(map[string]any)["sum_at_first_failure"].(int), 54,
			"createProgramInstanceForModel:…memoryPoolID:…optOutOfModelMemoryUnwiring:error:: "+all["text"].(string))
	},
	"m5max-27.0.1-reclaim.json": func(r *replay) { // each call of the bridge has a pool
		var loaded []*objcbridge.Program
		for range 110 {
			loaded = append(loaded, loadedProgram(r.t, r.b, addition))
		}
		for _, p := range loaded[:22] {
			require.NoError(r.t, p.Unload(driverabi.QoSDefault))
		}
		require.Equal(r.t, r.f.Counts().Loaded, r.f.Counts().Held, "the slots are back at once")
		for range 28 {
			loadedProgram(r.t, r.b, addition)
		}
	},
	"method-encodings-27.json": func(r *replay) {
		report, err := objcbridge.Inspect(r.f.Config().Bridge)
		require.NoError(r.t, err)
		plain := func(types string) string {
			return strings.Map(func(c rune) rune { return map[bool]rune{true: -1, false: c}[c >= '0' && c <= '9'] },
				types)
		}
		found := 0
		for class, v := range dataOf(r.t, "method-encodings-27.json").(map[string]any) {
			methods, _ := v.(map[string]any)
			for selector, types := range methods {
				for _, c := range report.Checks {
					if c.Class == class && c.Selector == selector[1:] {
						require.Equal(r.t, gnustepEncoding(plain(types.(string))), c.Found, selector)
						found++
					}
				}
			}
		}
		require.Greater(r.t, found, 8)
	},
	"perf-stats.json": func(r *replay) { r.runs() },
	"slots-and-loads.json": func(r *replay) {
		r.wall(127, 6, "createProgramInstanceForModel:…memoryPoolID:…optOutOfModelMemoryUnwiring:error:: Program "+
			"load failure (0x50004)")
	},
	"slots-and-loads.json#1": func(r *replay) { r.wall(237, 6, "") },
	"slots-and-loads.json#4": func(r *replay) {
		r.loadFails(6, "createProgramInstanceForModel:…memoryPoolID:…optOutOfModelMemoryUnwiring:error:: Program "+
			"load failure (0x10004)")
	},
	"symbol-orders.json": func(r *replay) {
		d := r.attributes(functions(`func main<ios18>(T x, T gate_weight, T up_weight, T down_weight) {
			T a = add(x = x, y = gate_weight)[name = string("a")]; T y = add(x = a, y = up_weight)[name = string("y")]; T y2 = add(x = a, y = down_weight)[name = string("y2")];
		} -> (y, y2);`))["ANEFModelDescription"].(map[string]any)
		rows := dataOf(r.t, "symbol-orders.json").([]any)
		for i, key := range []string{"kANEFModelInputSymbolsArrayKey", "kANEFModelOutputSymbolsArrayKey"} {
			for name, at := range rows[i].(map[string]any)["symbols"].(map[string]any) {
				require.Equal(r.t, name, d[key].([]any)[at.(int)])
			}
		}
	},
}

const replayEnv = "STANDIN_TEST_REPLAY"

func TestReplay(t *testing.T) {
	if name := os.Getenv(replayEnv); name != "" {
		f, err := Start(Options{ProgramLimit: 10_000})
		require.NoError(t, err)
		d, ok := Replayed()
		require.True(t, ok)
		require.Equal(t, strings.Split(os.Getenv(EnvDump), "#")[0], d.File)
		require.Contains(t, f.Config().Sharing, "replaying "+d.File)
		r := &replay{t: t, f: f, b: onBridge(t, f)}
		replays[name](r)
		return
	}
	dir := bridgetest.Build(t)
	entries, err := os.ReadDir(dumps)
	require.NoError(t, err)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".json") {
			require.True(t, slices.ContainsFunc(keys(replays), func(name string) bool {
				return strings.Split(name,
					"#")[0] == e.Name()
			}), "no replay of %s", e.Name())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(replays)) {
		t.Run(name, func(t *testing.T) {
			c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestReplay$", "-test.v")
			c.Env = append(os.Environ(), replayEnv+"="+name, EnvDump+"="+dumps+name, objcbridge.EnvDir+"="+dir)
			out, err := c.CombinedOutput()
			require.NoError(t, err, string(out))
			require.Contains(t, string(out), "--- PASS: TestReplay")
		})
	}
}

func keys[V any](m map[string]V) (list []string) {
	for k := range m {
		list = append(list, k)
	}
	return list
}

func TestStartFailsOnBadDumps(t *testing.T) {
	o := options(t)
	o.Dump = written(t, "{")
	_, _, err := replayed(o.Dump)
	require.ErrorIs(t, err, ane.ErrUnavailable)
	require.ErrorContains(t, err, o.Dump)
}
