// SPDX-License-Identifier: Apache-2.0
#define SIMT_LANES lanes_avx2
#include "harness/simt/lanes/forms.h"
