// SPDX-License-Identifier: Apache-2.0
#define SIMT_LANES lanes_baseline
#include "harness/simt/lanes/forms.h"
