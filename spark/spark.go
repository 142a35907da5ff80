// Package spark has the driver that runs neardup on Spark. The program writes it
// beside the plan of a run, so nothing else has to be installed.
package spark

import _ "embed"

// Source is the driver.
//
//go:embed neardup_spark/driver.py
var Source []byte
