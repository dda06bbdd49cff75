// What the board uses of the libraries, in one module.
import htm from "./htm.js";
import {h} from "./preact.js";

export {Component, Fragment, createContext, h, render} from "./preact.js";
export {
  useCallback, useContext, useEffect, useId, useLayoutEffect, useMemo, useReducer, useRef, useState,
} from "./preact-hooks.js";
export {batch, computed, effect, signal, untracked, useComputed, useSignal, useSignalEffect} from "./signals.js";
export const html = htm.bind(h);
