package workspace

// What the tests of package workspace_test use.

var Assess = assess
