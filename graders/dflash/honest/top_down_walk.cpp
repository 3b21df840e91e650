// strategy: walk down the parent array, one lazy argmax a level
#include "whole.h"
