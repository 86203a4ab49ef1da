// Package chip holds what is published about the generations of the Neural Engine. It says what each accepts, how fast
// it is, and how well each figure is supported. Package lint reads the limits, the cost estimator the speeds.
//
// A [Chip] is a generation, such as [M4]; [Parse] reads its marketing name and its compiler target, "m4" and
// "h16g". [Chip.Spec] returns its figures, each a [Fact] with its [Degree] of evidence and its source. [Compiler]
// is an interface to the compiler, [OS] a release of macOS.
//
// # Sources
//
// "study" is 751K/Apple-Neural-Engine-Microarchitecture-Study-M6 (sections of its report; M6, some of it repeated on an
// M4). "guide" is sbryngelson/ane-guide (M1, some M2 and M5), "forge" sbryngelson/ANEForge (M2 Pro and M5). "field
// guide" is skyfallsin/apple-neural-engine-field-guide (M3 Max), "maderix" maderix/ANE (M4, M5), "ironmill"
// jafreck/ironmill (M3 Pro). "gpt" is vipuldivyanshu92/ANEgpt, "rane" cyberia-to/rane, "orion" mechramc/Orion (M4).
// "coremltools #2687" is an issue of apple/coremltools (M3 Max, M4), "dump" a file of what a machine printed.
package chip
