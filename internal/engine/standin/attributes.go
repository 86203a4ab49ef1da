package standin

import (
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/plist"
)

// typeNames are the framework's names of the types that a surface can hold. Float16 and
// Float32 are from compiled programs; the others are formed alike.
var typeNames = map[mil.DType]string{
	mil.FP16: "Float16", mil.FP32: "Float32", mil.Bool: "Bool",
	mil.Int8: "Int8", mil.Int16: "Int16", mil.Int32: "Int32",
	mil.UInt8: "UInt8", mil.UInt16: "UInt16", mil.UInt32: "UInt32",
}

// outputSuffix is the suffix of outputs' names.
const outputSuffix = "@output"

// liveKeys are the keys of a live entry in the order of M1, macOS 27.0.1.
var liveKeys = []string{"Name", "Symbol", "Type", "Batches", "Channels", "Depth", "Height", "Width", "RowStride",
	"PlaneStride", "DepthStride", "BatchStride", "PlaneCount", "Interleave"}

// describe returns the modelAttributes of a loaded program in the form observed from
// Apple's framework. keys are those of live entries.
func (p *program) describe(keys []string) plist.Dict {
	var networks, procedures plist.Array
	var ids plist.Dict
	for i, f := range p.procedures {
		networks = append(networks, plist.Of("LiveInputList", live(f.in, "", keys), "LiveOutputList",
			live(f.out, outputSuffix, keys), "Name", f.name))
		procedures = append(procedures, plist.Of("ANEFModelInputSymbolIndexArray", symbols(f.in),
			"ANEFModelOutputSymbolIndexArray", symbols(f.out), "ANEFModelProcedureID", i))
		ids = append(ids, plist.Entry{Key: f.name, Value: i})
	}
	return plist.Dict{
		{Key: "ANEFModelDescription", Value: plist.Dict{
			{Key: "ANEFModelInput16KAlignmentArray", Value: zeros(p.inputs)},
			{Key: "ANEFModelOutput16KAlignmentArray", Value: zeros(p.outputs)},
			{Key: "ANEFModelProcedures", Value: procedures},
			{Key: "kANEFModelInputSymbolsArrayKey", Value: p.inputs},
			{Key: "kANEFModelOutputSymbolsArrayKey", Value: p.outputs},
			{Key: "kANEFModelProcedureNameToIDMapKey", Value: ids},
		}},
		{Key: "NetworkStatusList", Value: networks},
	}
}

// zeros returns one 0 for each symbol. No observed program has another number.
func zeros(symbols plist.Array) plist.Array {
	list := make(plist.Array, len(symbols))
	for i := range list {
		list[i] = 0
	}
	return list
}

func symbols(ports []port) plist.Array {
	list := make(plist.Array, len(ports))
	for i, p := range ports {
		list[i] = p.symbol
	}
	return list
}

// live lists tensors with their placements: lengths in elements, strides in bytes.
func live(ports []port, suffix string, keys []string) plist.Array {
	list := make(plist.Array, len(ports))
	for i, p := range ports {
		list[i] = liveEntry(p, suffix, keys)
	}
	return list
}

// liveEntry returns the live entry of one tensor. It has those of the given keys that
// the stand-in knows.
func liveEntry(p port, suffix string, keys []string) plist.Dict {
	s := p.placement
	values := map[string]any{
		"Name": p.name + suffix, "Symbol": p.name + suffix, "Type": typeNames[p.dtype],
		"RowStride": s.strides[axisH], "PlaneStride": s.strides[axisC], "DepthStride": s.strides[axisD],
		"BatchStride": s.strides[axisN], "PlaneCount": s.lengths[axisN] * s.lengths[axisC], "Interleave": 1,
	}
	for at, name := range order {
		values[name] = s.lengths[at]
	}
	var d plist.Dict
	for _, key := range keys {
		if v, ok := values[key]; ok {
			d = append(d, plist.Entry{Key: key, Value: v})
		}
	}
	return d
}
