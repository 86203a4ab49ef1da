package standin

import (
	"strconv"
	"strings"

	"github.com/anekit/anekit/internal/plist"
)

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// The registry's classes.
const (
	engineService   = "H11ANEIn"
	balancerService = "H1xANELoadBalancer"
)

// propertyPrefix is the prefix of the keys of DeviceProperties.
const propertyPrefix = "ANEDeviceProperty"

// readDevice reads the object device, or the top of the data.
func (d *Dump) readDevice(data plist.Dict) {
	d.readClass(data.Dict("device"))
	d.readClass(data)
	if d.Build != "" {
		d.tables.put("device", "buildVersion", d.Build)
	}
	d.readRegistry(data)
}

// isDevice reports whether a row describes a device.
func isDevice(row plist.Dict) bool {
	for _, key := range [...]string{"numANECores", "numANEs", "hasANE", "aneArchitectureType", "arch", "board", "ioreg",
		engineService, balancerService} {
		if _, ok := row.Get(key); ok {
			return true
		}
	}
	return false
}

// readDeviceRow reads a row of a table of devices.
func (d *Dump) readDeviceRow(row plist.Dict) {
	d.readClass(row)
	d.readRegistry(row)
	d.readShort(row)
	if build := buildOf(row.String("os")); build != "" {
		d.tables.put("device", "buildVersion", build)
	}
}

// readClass reads the results of class methods of _ANEDeviceInfo.
func (d *Dump) readClass(answers plist.Dict) {
	for _, e := range answers {
		value, ok := e.Value, false
		switch e.Key {
		case "hasANE", "isVirtualMachine", "isInternalBuild", "isExcessivePowerDrainWhenIdle",
			"precompiledModelChecksDisabled":
			value, ok = flag(e.Value)
		case "numANEs", "numANECores", "aneBoardType":
			_, ok = e.Value.(int64)
		case "aneArchitectureType", "aneSubType", "aneSubTypeVariant", "aneSubTypeProductVariant", "productName",
			"buildVersion", "bootArgs":
			_, ok = e.Value.(string)
		}
		if ok {
			d.tables.put("device", e.Key, value)
		}
	}
}

// flag converts a truth value, which may be a word or a number.
func flag(v any) (yes, ok bool) {
	switch v := v.(type) {
	case bool:
		return v, true
	case int64:
		return v == 1, v == 0 || v == 1
	case string:
		word := strings.ToLower(v)
		return word == "yes" || word == "true", word == "yes" || word == "true" || word == "no" || word == "false"
	}
	return false, false
}

// readRegistry reads properties of the registry: of services by class, or in the
// object ioreg, which may have only the engine's.
func (d *Dump) readRegistry(from plist.Dict) {
	ioreg := from.Dict("ioreg")
	services := map[string]plist.Dict{}
	for _, class := range [...]string{engineService, balancerService} {
		services[class] = append(append(plist.Dict{}, from.Dict(class)...), ioreg.Dict(class)...)
	}
	for _, e := range ioreg {
		if _, nested := e.Value.(plist.Dict); !nested && e.Key != "class" && e.Key != "root" {
			services[engineService] = append(services[engineService], e)
		}
	}
	for _, class := range [...]string{engineService, balancerService} {
		d.properties(class, services[class])
	}
}

// properties adds the properties of a service. Keys of DeviceProperties may also be
// among the service's own, even without their prefix.
func (d *Dump) properties(class string, from plist.Dict) {
	var own, device plist.Dict
	add := func(list *plist.Dict, key string, value any) {
		if len(*list) >= maxEntries {
			return
		}
		if _, ok := list.Get(key); !ok {
			*list = append(*list, plist.Entry{Key: key, Value: value})
		}
	}
	for _, e := range append(append(plist.Dict{}, from.Dict("DeviceProperties")...), from...) {
		switch {
		case e.Key == "DeviceProperties":
		case strings.HasPrefix(e.Key, propertyPrefix):
			add(&device, e.Key, e.Value)
		case e.Key == "NumANECores", e.Key == "NumANEs":
			add(&device, propertyPrefix+e.Key, e.Value)
		default:
			add(&own, e.Key, e.Value)
		}
	}
	if len(device) > 0 {
		add(&own, "DeviceProperties", device)
	}
	if len(own) > 0 {
		d.tables.put("registry", class, own)
	}
}

// readShort reads rows that use short names of properties.
func (d *Dump) readShort(row plist.Dict) {
	var engine, balancer plist.Dict
	for _, e := range row {
		property := map[string]string{"arch": "TypeANEArchitectureTypeStr", "ANEVersion": "ANEVersion",
			"board": "ANEHWBoardType", "minor": "ANEMinorVersion"}[e.Key]
		switch {
		case property != "":
			engine = append(engine, plist.Entry{Key: propertyPrefix + property, Value: e.Value})
		case e.Key == "instances", strings.HasSuffix(e.Key, "_instances"):
			balancer = append(balancer, plist.Entry{Key: propertyPrefix + "NumANEs", Value: e.Value})
		}
	}
	if arch, ok := row.Get("arch"); ok {
		d.readClass(plist.Dict{{Key: "aneArchitectureType", Value: arch}})
	}
	if board, ok := row.Get("board"); ok {
		d.readClass(plist.Dict{{Key: "aneBoardType", Value: board}})
	}
	for _, e := range balancer {
		d.readClass(plist.Dict{{Key: "numANEs", Value: e.Value}})
	}
	d.properties(engineService, engine)
	d.properties(balancerService, balancer)
}
