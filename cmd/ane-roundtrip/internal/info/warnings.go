package info

import (
	"fmt"
	"strconv"

	"github.com/anekit/anekit/objcbridge"
)

// safeMajor is the number that the builds of macOS 27 begin with: 26A434.
const safeMajor = 26

// twoEngines warns of what the dump m3ultra-power-transition records of an M3 Ultra: build 25F84 of macOS 26.5.2 and
// earlier ones admit a request while the engine powers up or down, and macOS 27 refuses it.
const twoEngines = "this machine has two Neural Engines, and its macOS is older than 27: an evaluation or a load while an " +
	"engine powers up or down may panic the machine, as on an M3 Ultra up to macOS 26.5.2; macOS 27 refuses such a run, " +
	"and anekit tries it again"

// warnings returns what is dangerous on the machine that a framework describes.
func warnings(r objcbridge.Report) []string {
	if r.Device == nil {
		return nil
	}
	engines := r.Device.Engines
	for _, p := range r.Registry {
		if n, err := strconv.Atoi(p.Value); err == nil && p.Name == "ANEDevicePropertyNumANEs" {
			engines = max(engines, n)
		}
	}
	var major int
	if _, err := fmt.Sscanf(r.Device.Build, "%d", &major); err != nil || major >= safeMajor || engines < 2 {
		return nil
	}
	return []string{twoEngines}
}
